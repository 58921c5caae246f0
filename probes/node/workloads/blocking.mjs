// `blocking`: `size` async functions, started at once, of which one in so many blocks for a while: what do the others wait?
//
// A function tells how long it was ready before it ran: it is called, and goes on as a microtask. The one that blocks sleeps
// in the system, on the thread of the loop, or wherever the variant has such a call done.

import { availableParallelism } from "node:os";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { param, variant } from "../sdk/index.mjs";

const WORKER = `
  const { parentPort } = require("node:worker_threads");
  const never = new Int32Array(new SharedArrayBuffer(4));
  parentPort.on("message", (ms) => {
    Atomics.wait(never, 0, 0, ms);
    parentPort.postMessage("done");
  });
  parentPort.postMessage("here");
`;
const never = new Int32Array(new SharedArrayBuffer(4));

/** The workload `blocking`. Answer of an iteration: the number of functions done. */
export function declare() {
  param("blocking", "block_us", 1000, "how long a function blocks that does, in microseconds");
  param("blocking", "every", 100, "one function in so many blocks, the first of them");
  variant("blocking", "without", { note: "no function blocks" }, (run) => perform(run));
  variant("blocking", "inline", { note: "Atomics.wait on the thread of the loop" }, (run) => perform(run, inline));
  const workers = "Atomics.wait in a worker thread, of as many as there are cores; asked for by a message, and awaited";
  variant("blocking", "worker_threads", { note: workers }, async (run) => {
    const pool = await started(availableParallelism());
    try {
      return await perform(run, pool.block);
    } finally {
      await pool.end();
    }
  });
  variant("blocking", "setTimeout", { note: "no thread blocks: the loop's timer" }, (run) => perform(run, setTimeout));
}

function inline(ms) {
  Atomics.wait(never, 0, 0, ms);
}

/** Workers that take turns. Each answers in the order in which it is asked. */
async function started(count) {
  const workers = Array.from({ length: count }, () => ({ thread: new Worker(WORKER, { eval: true }), asked: [] }));
  const here = workers.map(({ thread, asked }) => {
    const first = new Promise((resolve) => asked.push(resolve));
    thread.on("message", () => asked.shift()());
    return first;
  });
  await Promise.all(here);
  let turn = 0;
  const block = (ms) => {
    const { thread, asked } = workers[turn++ % count];
    return new Promise((resolve) => {
      asked.push(resolve);
      thread.postMessage(ms);
    });
  };
  return { block, end: () => Promise.all(workers.map(({ thread }) => thread.terminate())) };
}

/** Does all iterations. `block` blocks for so many milliseconds, or gives a promise of having done so elsewhere. */
async function perform(run, block) {
  const { every, block_us: us } = run.params;
  const waits = [];
  let blocked = 0;
  const task = async (ready, blocks) => {
    await undefined;
    waits.push(performance.now() - ready);
    if (!blocks) return;
    const elsewhere = block(us / 1000);
    if (elsewhere) await elsewhere;
    blocked++;
  };
  const once = async (_phases, all) => {
    const before = waits.length;
    for (let i = 0; i < all.length; i++) all[i] = task(performance.now(), block !== undefined && i % every === 0);
    await Promise.all(all);
    return waits.length - before;
  };
  const sample = await run.timeEach(() => new Array(run.size), once);
  waits.sort((a, b) => a - b);
  const least = (percent) => Math.round(waits[Math.ceil((waits.length * percent) / 100) - 1] * 1e6);
  const told = { wait_p50_ns: least(50), wait_p99_ns: least(99), wait_max_ns: least(100), blocked };
  return { ...sample, extra: { ...sample.extra, ...told } };
}
