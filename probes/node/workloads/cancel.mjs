// `cancel`: `size` async functions that all wait for what never comes, aborted and collected, both of which is timed.
//
// Everything runs on one thread, and a function counts itself with nothing but its `await` behind it. So once the calls have
// returned, those that are counted wait.

import { setMaxListeners } from "node:events";
import { setImmediate, setTimeout } from "node:timers/promises";

import { param, variant } from "../sdk/index.mjs";

const HOUR = 3_600_000;

// Each listener of a signal is compared with all that it has before it is added, once for all 16,000: 0.3 s, untimed.
const MOST = 16_384;
const SHARED = "one signal that all listen to; each listener is compared with all others when it is added, untimed";

/** The workload `cancel`. Answer of an iteration: the number of functions that saw that they were aborted. */
export function declare() {
  const things = "what functions wait for, beside their signal: nothing; an hour to pass";
  param("cancel", "on", "event", things, ["event", "timer"]);
  param("cancel", "first", "oldest", "which function is aborted first", ["oldest", "newest"]);
  const only = { first: ["oldest"] };
  variant("cancel", "AbortSignal/shared", { only, maxSize: MOST, note: SHARED }, (run) => perform(run, shared));
  const has = typeof AbortSignal.any === "function";
  const unavailable = has ? undefined : { reason: "needs Node 20.3", remedy: "install a newer Node" };
  const note = "each has a signal that follows one controller";
  variant("cancel", "AbortSignal.any", { only, unavailable, note }, (run) => perform(run, any));
  variant("cancel", "AbortController/each", { note: "a controller each" }, (run) => perform(run, each));
}

/** Does all iterations, of which only the aborting and the collecting is timed. */
export async function perform(run, form) {
  const wait = { event: aborted, timer: slept }[run.params.on];
  const setup = async () => {
    const { signals, abort } = form(run.size, run.params.first === "newest");
    const state = { waiting: 0, cancelled: 0 };
    const task = async (signal) => {
      state.waiting++;
      try {
        await wait(signal);
      } catch (error) {
        if (error.name !== "AbortError") throw error;
        state.cancelled++;
      }
    };
    const all = signals.map(task);
    await setImmediate();
    if (state.waiting !== run.size || state.cancelled > 0) {
      throw new Error(`${state.waiting} of ${run.size} functions waited, and ${state.cancelled} were aborted before`);
    }
    return { state, all, abort };
  };
  return run.timeEach(setup, async (_phases, { state, all, abort }) => {
    abort();
    await Promise.all(all);
    return state.cancelled;
  });
}

/** Waits until the signal says so, which it may have done. */
function aborted(signal) {
  signal.throwIfAborted();
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

function slept(signal) {
  return setTimeout(HOUR, undefined, { signal });
}

function shared(size) {
  const controller = new AbortController();
  // Many listeners are not a leak here.
  setMaxListeners(0, controller.signal);
  return { signals: new Array(size).fill(controller.signal), abort: () => controller.abort() };
}

function any(size) {
  const controller = new AbortController();
  const signals = Array.from({ length: size }, () => AbortSignal.any([controller.signal]));
  return { signals, abort: () => controller.abort() };
}

export function each(size, newest) {
  const controllers = Array.from({ length: size }, () => new AbortController());
  const signals = controllers.map(({ signal }) => signal);
  if (newest) controllers.reverse();
  return { signals, abort: () => controllers.forEach((controller) => controller.abort()) };
}
