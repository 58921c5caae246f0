// `drain`: `size` promises that wait, resolved and collected one after the other. All of them wait before the clock
// starts, so that what is timed is the price of a completion among many that still wait.

import { variant } from "../sdk/index.mjs";

// Promise.race adds a reaction to every promise that is left, each time: 8 million of them at 4,000.
const MOST = 4_000;
const AGAIN = "asked again for those that are left: work and memory grow with the square of the size, by design";

/** The workload `drain`. Answer of an iteration: the number of promises collected. */
export function declare() {
  const options = { createsTask: false, maxSize: MOST, note: `promises, no tasks; ${AGAIN}` };
  variant("drain", "Promise.race", options, (run) => perform(run, oneByOne));
  variant("drain", "Promise.all", { createsTask: false, note: "promises, no tasks" }, (run) => perform(run, allAtOnce));
}

/** Does all iterations, of which only the collecting is timed. */
async function perform(run, collect) {
  const setup = () => {
    const waiting = new Map();
    const resolve = [];
    for (let i = 0; i < run.size; i++) waiting.set(i, new Promise((done) => resolve.push(() => done(i))));
    return { waiting, resolve };
  };
  return run.timeEach(setup, (_phases, { waiting, resolve }) => collect(waiting, resolve));
}

/** `Promise.race` over those that are left, again and again. */
async function oneByOne(waiting, resolve) {
  let collected = 0;
  for (const done of resolve) {
    queueMicrotask(done);
    waiting.delete(await Promise.race(waiting.values()));
    collected++;
  }
  return collected;
}

/** One `Promise.all`. */
async function allAtOnce(waiting, resolve) {
  for (const done of resolve) queueMicrotask(done);
  return (await Promise.all(waiting.values())).length;
}
