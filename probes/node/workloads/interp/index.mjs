// `interp`: requests to an interpreter that may suspend, in every encoding that Node has for it.
//
// | module | holds |
// |---|---|
// | program | the tree, and how it is read |
// | values | values, the environment, and the builtins that cannot suspend |
// | encodings | an evaluator for each variant |
// | loop, worker | the loop over requests, in the main thread and in others |
// | http | the server |
// | count | what an instrumented run counts |

import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { param, variant } from "../../sdk/index.mjs";
import { together } from "./count.mjs";
import { MODES, serve } from "./http.mjs";
import { Loop } from "./loop.mjs";
import { output } from "./program.mjs";

/** Which elements of 100 suspend, by how many do: those that this divides. */
const EVERY = { 0: 0, 6: 15, 100: 1 };
const MOST_WORKERS = 100;
const IMMEDIATE = "an element that suspends awaits setImmediate";

export const VARIANTS = [
  ["sync", "Sync", "plain recursion; an element that suspends has its thread sleep for a microsecond (Atomics.wait)"],
  ["async", "Async", `an async function at every node and builtin; ${IMMEDIATE}`],
  ["async/cached", "AsyncCached", `as async; a literal gives a promise that was fulfilled beforehand; ${IMMEDIATE}`],
  ["async/sync_caller", "SyncCaller", `as async; builtins that cannot suspend are called, not awaited; ${IMMEDIATE}`],
  ["union", "Union", `a value or a promise; only promises are awaited; ${IMMEDIATE}`],
];

/** The workload `interp`. Answer of an iteration: the number of requests with the right output. */
export function declare() {
  const lookup = "how a call finds its function: in a Map, or in the tree; the environment is a linked list";
  param("interp", "lookup", "by_name", lookup, ["by_name", "prelinked"]);
  param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100");
  param("interp", "depth", 0, "above 0: that many nested lets are evaluated");
  param("interp", "workers", 0, "above 0: that many worker threads share the requests, each with a loop of its own");
  const mode = "whether requests are made in the process, or over HTTP to a server of node:http";
  param("interp", "mode", "inproc", mode, ["inproc", ...MODES]);
  param("interp", "rate", 50, "http-open: percent of the closed throughput");
  for (const [name, encoding, note] of VARIANTS) {
    variant("interp", name, { createsTask: false, note }, (run) => perform(run, encoding));
  }
  const constant = { createsTask: false, only: { mode: MODES }, note: "the right bytes without evaluating: what the server costs" };
  variant("interp", "constant", constant, (run) => serve(run, run.params.depth > 0 ? "1" : output(), () => undefined));
}

/** Does all iterations of an encoding inside the timed part. */
async function perform(run, encoding) {
  const { lookup, pause, depth, workers } = run.params;
  const every = EVERY[pause];
  if (every === undefined) throw new Error(`pause is ${pause}; give 0, 6 or 100`);
  if (workers > MOST_WORKERS) throw new Error(`workers is ${workers}; give at most ${MOST_WORKERS}`);
  const asked = { encoding, verify: run.verify, lookup, depth, every, requests: run.size };
  if (workers > 0) return performTogether(run, asked, workers);
  const loop = await Loop.made(asked);
  const timing = await (MODES.includes(run.params.mode)
    ? serve(run, loop.right, () => loop.answer())
    : run.time(() => loop.run()));
  if (loop.wrong) throw new Error(loop.wrong);
  Object.assign(timing.extra, loop.count?.report());
  return timing;
}

/** The workers of the last timed request, and what they were asked for: a worker compiles its code anew. */
let kept;

/** What each of these workers says next. */
const said = (workers) => Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));

/** Workers that are ready. Those that count have counted nothing yet. */
async function ready(asked, shares) {
  const key = JSON.stringify([asked, shares]);
  if (kept?.key === key) return kept.workers;
  await dismissed(kept?.workers);
  kept = undefined;
  const file = new URL("./worker.mjs", import.meta.url);
  const workers = shares.map((requests) => new Worker(file, { workerData: { ...asked, requests } }));
  await said(workers);
  if (!asked.verify) kept = { key, workers };
  return workers;
}

const dismissed = (workers = []) => Promise.all(workers.map((worker) => worker.terminate()));

/** Has each worker loop in a thread of its own, which waits between iterations. */
async function performTogether(run, asked, number) {
  const shares = Array.from({ length: number }, (_, i) => Math.floor(run.size / number) + (i < run.size % number ? 1 : 0));
  const workers = await ready(asked, shares);
  const answers = (message) => {
    const replies = said(workers);
    for (const worker of workers) worker.postMessage(message);
    return replies;
  };
  let isWhole = false;
  try {
    const timing = await run.time(async () => {
      let sum = 0;
      for (const { right, failed } of await answers("go")) {
        if (failed) throw new Error(failed);
        sum += right;
      }
      return sum;
    });
    const reports = await answers("report");
    for (const { wrong } of reports) {
      if (wrong) throw new Error(wrong);
    }
    timing.extra.worker_requests = shares.map((share) => share * run.iterations);
    timing.extra.worker_wall_ns = reports.map(({ wall }) => wall);
    if (run.verify) Object.assign(timing.extra, together(reports.map(({ counted }) => counted)));
    isWhole = !run.verify;
    return timing;
  } finally {
    if (!isWhole) {
      kept = undefined;
      await dismissed(workers);
    }
  }
}
