// `context`: `size` awaits, behind each of which a function reads one of the `variables` stores that it has been given. Two
// functions share the awaits, each with values of its own, so a store that is not the function's has the wrong value. Without
// variables nothing is read.

import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";

import { param, variant } from "../sdk/index.mjs";

/** The workload `context`. Answer of an iteration: the number of awaits behind which the value was right. */
export function declare() {
  param("context", "variables", 1, "stores that have a value: 0, 1 or 8");
  const about = (note) => ({ createsTask: false, note });
  variant("context", "AsyncLocalStorage", about("await of a promise that is resolved"), (run) => perform(run, undefined));
  variant("context", "AsyncLocalStorage/setImmediate", about("await of a turn of the loop"), (run) => perform(run, setImmediate));
}

const storages = Array.from({ length: 8 }, () => new AsyncLocalStorage());

/** Does all iterations. `waits` gives what is awaited. */
async function perform(run, waits) {
  const { variables: count } = run.params;
  if (![0, 1, 8].includes(count)) throw new RangeError(`variables is ${count}; give 0, 1 or 8`);
  const other = Math.floor(run.size / 2);
  try {
    return await run.time(async () => {
      const both = [[run.size - other, 1000], [other, 2000]].map(([awaits, first]) =>
        within(first, count, () => reading(awaits, first, count, waits)),
      );
      const [right, more] = await Promise.all(both);
      return right + more;
    });
  } finally {
    // A store that was used once has Node look at every promise, until it is told not to.
    for (const storage of storages) storage.disable();
  }
}

/** Calls `body` where the first `count` stores have values from `first` on. */
function within(first, count, body, at = 0) {
  return at === count ? body() : storages[at].run(first + at, within, first, count, body, at + 1);
}

/** Waits and then reads, so many times. Gives how often the value was right. */
async function reading(awaits, first, count, waits) {
  let right = 0;
  for (let i = 0, at = 0; i < awaits; i++) {
    await waits?.();
    if (count === 0 || storages[at].getStore() === first + at) right++;
    if (++at >= count) at = 0;
  }
  return right;
}
