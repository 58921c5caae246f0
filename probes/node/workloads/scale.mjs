// `scale`: `size` tasks that a given number of worker threads shares.
//
// A loop of Node has one thread, and no task moves to another: workers take the number of the next task from a counter that
// they share, and await the task.

import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { param, variant } from "../sdk/index.mjs";

const MOST_WORKERS = 100;

/** The workload `scale`. Answer of an iteration: the sum of the tasks' results. */
export function declare() {
  param("scale", "workers", 1, "worker threads that run tasks");
  param("scale", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
  const note = "worker_threads take the number of the next task from a shared counter, and await an async function each";
  variant("scale", "worker_threads", { note }, perform);
}

/** The workers of the last request, which compiled their code. */
let kept = { workers: [] };

/** So many workers, which wait. */
async function ready(number) {
  if (kept.workers.length === number) return kept;
  await Promise.all(kept.workers.map((worker) => worker.terminate()));
  kept = { workers: [] };
  const next = new Int32Array(new SharedArrayBuffer(4));
  const file = new URL("./scale_worker.mjs", import.meta.url);
  const workers = Array.from({ length: number }, () => new Worker(file, { workerData: next }));
  await said(workers);
  kept = { workers, next };
  return kept;
}

/** What each of these workers says next. */
const said = (workers) => Promise.all(workers.map(async (worker) => (await once(worker, "message"))[0]));

async function perform(run) {
  const { workers: number, work } = run.params;
  if (number < 1 || number > MOST_WORKERS) throw new Error(`workers is ${number}; give 1 to ${MOST_WORKERS}`);
  const { workers, next } = await ready(number);
  const executed = new Array(number).fill(0);
  const asked = { size: run.size, seed: run.seed, work };
  const timing = await run.time(async () => {
    next[0] = 0;
    const replies = said(workers);
    for (const worker of workers) worker.postMessage(asked);
    let sum = 0n;
    for (const [i, reply] of (await replies).entries()) {
      sum += reply.sum;
      executed[i] += reply.executed;
    }
    return BigInt.asUintN(64, sum);
  });
  if (!run.verify) return timing;
  const all = executed.reduce((sum, one) => sum + one, 0);
  const expected = run.size * run.iterations;
  if (all !== expected) throw new Error(`${all} tasks were executed, ${expected} were asked for`);
  const seen = executed.filter((one) => one > 0).length;
  // A worker has one task at a time.
  Object.assign(timing.extra, { executed: all, max_live: seen, workers_seen: seen });
  return timing;
}
