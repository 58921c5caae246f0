// `idle`: `size` milliseconds are watched, while `rate` tasks arrive a second. Task i arrives i steps of `1000 / rate`
// milliseconds after the beginning, however late the one before it was, and adds a step to a count. A few hundred a
// millisecond apart come before, untimed: code is first compiled at them.

import { once } from "node:events";
import { setTimeout as asleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";

import { param, variant } from "../sdk/index.mjs";

const BEFORE = 200;

/** The workload `idle`. Answer of an iteration: the count. */
export function declare() {
  param("idle", "rate", 1000, "tasks that arrive a second: 1, 10, 100 or 1000");
  variant("idle", "setTimeout", { note: "a timer calls the task, an async function" }, (run) => perform(run, byTimeout));
  const promised = "a function awaits the setTimeout of timers/promises, and calls the task";
  variant("idle", "timers/promises", { note: promised }, (run) => perform(run, byPromise));
  const outside = "a worker thread sleeps by Atomics.wait, and posts a message for each task";
  variant("idle", "outside/postMessage", { note: outside }, async (run) => perform(run, byWorker(await started())));
}

/** Does all iterations. `arrive` calls a function at the time of each task. */
async function perform(run, arrive) {
  const { rate } = run.params;
  if (![1, 10, 100, 1000].includes(rate)) throw new RangeError(`rate is ${rate}; give 1, 10, 100 or 1000`);
  const step = 1000 / rate;
  if (run.size % step !== 0) throw new RangeError(`in ${run.size} ms no whole number of tasks arrives at ${rate} a second`);
  await arriving(arrive, BEFORE, 1);
  return run.time(() => arriving(arrive, run.size / step, step));
}

/** Starts all tasks, each at its time. Gives what they have added. */
async function arriving(arrive, number, step) {
  let count = 0;
  const task = async () => {
    count += step;
  };
  const tasks = [];
  await arrive(number, step, () => tasks.push(task()));
  await Promise.all(tasks);
  return count;
}

/** Timers know whole milliseconds, and one that was early is set again. */
function byTimeout(number, step, start) {
  return new Promise((resolve) => {
    const begun = performance.now();
    let i = 1;
    const due = () => {
      for (; i <= number; i++) {
        const left = begun + i * step - performance.now();
        if (left > 0) return setTimeout(due, Math.ceil(left));
        start();
      }
      resolve();
    };
    due();
  });
}

async function byPromise(number, step, start) {
  const begun = performance.now();
  for (let i = 1; i <= number; i++) {
    for (let left; (left = begun + i * step - performance.now()) > 0; ) await asleep(Math.ceil(left));
    start();
  }
}

let worker;

/** A worker that is there: it is made once in a process. */
async function started() {
  if (!worker) {
    worker = new Worker(new URL("./idle_worker.mjs", import.meta.url));
    await once(worker, "message");
    worker.unref();
  }
  return worker;
}

function byWorker(sleeps) {
  return (number, step, start) =>
    new Promise((resolve) => {
      let left = number;
      const due = () => {
        start();
        if (--left > 0) return;
        sleeps.off("message", due);
        sleeps.unref();
        resolve();
      };
      sleeps.on("message", due);
      sleeps.ref();
      sleeps.postMessage({ number, step });
    });
}
