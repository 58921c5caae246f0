// `parked`: `size` async functions that all wait, and are resumed and collected. What is timed is the resuming; what they
// hold while they wait is read where the request asks for it.
//
// Everything runs on one thread, and a function counts itself with nothing but its `await` behind it. So once the calls
// have returned, those that are counted wait.

import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { param, variant } from "../sdk/index.mjs";

const HOUR = 3_600_000;

/** The workload `parked`. Answer of an iteration: the number of functions that were resumed. */
export function declare() {
  const things = "what functions wait for: a promise that all share; an hour to pass, which is cut short";
  param("parked", "on", "event", things, ["event", "timer"]);
  const memory = "also reads the memory of the process, after a collection: before the first call, and while all wait";
  param("parked", "resident", false, memory);
  variant("parked", "Promise.all", { note: "async functions, which begin at the call" }, (run) => {
    return perform(run, { event: onEvent, timer: onTimer }[run.params.on]);
  });
}

/** Does all iterations, of which only the resuming is timed. `start` makes the functions wait, and gives what wakes them. */
export async function perform(run, start) {
  const once = Object.create(run, { iterations: { value: 1 } });
  const sum = { wall_ns: 0, cpu_ns: 0, answer: 0, extra: {} };
  for (let iteration = 0; iteration < run.iterations; iteration++) {
    // Later iterations find a heap that has held functions before.
    const reads = run.params.resident && iteration === 0;
    if (reads) sum.extra.resident_before = await resident();
    const state = { waiting: 0, resumed: 0, all: new Array(run.size) };
    const wake = start(state);
    await setImmediate();
    if (state.waiting !== run.size || state.resumed > 0) {
      const { waiting, resumed } = state;
      throw new Error(`${waiting} of ${run.size} functions waited, and ${resumed} went on before they were woken`);
    }
    if (reads) sum.extra.resident_waiting = await resident();
    const part = await once.time(async () => {
      wake();
      await Promise.all(state.all);
      return state.resumed;
    });
    sum.wall_ns += part.wall_ns;
    sum.cpu_ns += part.cpu_ns;
    sum.answer += part.answer; // far below 2^53
  }
  if (run.params.resident || run.verify) sum.extra.waiting = run.size; // each iteration has made sure of it
  return sum;
}

/** One promise that all wait for. */
export function onEvent(state) {
  let set;
  const event = new Promise((resolve) => (set = resolve));
  const task = async () => {
    state.waiting++;
    await event;
    state.resumed++;
  };
  for (let i = 0; i < state.all.length; i++) state.all[i] = task();
  return set;
}

/** A timer for each. Who cuts it short has the timer, and what resolves the promise. */
function onTimer(state) {
  const timers = new Array(state.all.length);
  const ends = new Array(state.all.length);
  const task = async (i) => {
    state.waiting++;
    await new Promise((resolve) => {
      ends[i] = resolve;
      timers[i] = setTimeout(resolve, HOUR);
    });
    state.resumed++;
  };
  for (let i = 0; i < state.all.length; i++) state.all[i] = task(i);
  return () => {
    for (let i = 0; i < timers.length; i++) {
      clearTimeout(timers[i]);
      ends[i]();
    }
  };
}

let collect;

/**
 * Resident bytes of this process after a collection, which has a call only where a flag asks for it. `smaps_rollup` counts
 * pages; the kernel's running totals lag behind.
 */
async function resident() {
  if (!collect) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc");
  }
  collect();
  // What a collection frees is given back by another thread.
  await setImmediate();
  collect();
  const line = /^Rss: +([0-9]+) kB/m.exec(readFileSync("/proc/self/smaps_rollup", "latin1"));
  if (!line) throw new Error("/proc/self/smaps_rollup has no line Rss");
  return Number(line[1]) * 1024;
}
