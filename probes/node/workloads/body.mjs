// What a task does.
//
// A body gives its task in three shapes: `result` is a plain function, `task` an async function that never awaits,
// `suspended` one that awaits null first. `later` is `setImmediate`. `zero`, `add`, `ordered` and `discarded` make the
// answer of an iteration. `kind` names which tasks a loop over this body meets.

import { spin } from "./spin.mjs";

/** `31 * i`, out of a function that V8 does not inline: its bytecode is past `max_inlined_bytecode_size` (460). */
const product = new Function("i", `if (i < 0) { ${"i = i * 3 + 1; ".repeat(80)} } return 31 * i;`);

/** Tasks that give `31 * i`. */
export function plain() {
  return {
    kind: "plain",
    result: product,
    task: async (i) => product(i),
    suspended: async (i) => {
      await null;
      return product(i);
    },
    later: setImmediate,
    zero: 0,
    add: (sum, result) => sum + result,
    ordered(results) {
      let sum = 0;
      for (let i = 0; i < results.length; i++) sum += results[i];
      return sum;
    },
    discarded: (size) => size,
  };
}

/** Tasks that give `spin(seed + i, work)`. */
export function spun(seed, work) {
  return {
    kind: "spun",
    result: (i) => spin(seed, i, work),
    task: async (i) => spin(seed, i, work),
    suspended: async (i) => {
      await null;
      return spin(seed, i, work);
    },
    later: setImmediate,
    zero: 0n,
    add: (sum, result) => BigInt.asUintN(64, sum + result),
    ordered(results) {
      let sum = 0n;
      for (let i = 0; i < results.length; i++) sum = BigInt.asUintN(64, sum + results[i]);
      return sum;
    },
    discarded: (size) => size,
  };
}

/** Tasks that do nothing. */
export function nothing() {
  return {
    kind: "nothing",
    result() {},
    task: async () => {},
    suspended: async () => {
      await null;
    },
    later: setImmediate,
    discarded: (size) => size,
  };
}

/** The tasks of `body`, counted: where they are created, and when they have run. */
export function counted(count, body) {
  const executed = (result) => {
    count.executed(result ?? 1);
    return result;
  };
  const result = (i) => executed(body.result(i));
  // Awaiting the task would make one that never awaits into one that does.
  const task = async (i) => result(i);
  const suspended = async (i) => executed(await body.suspended(i));
  const created = (start) => (first, second) => {
    count.created();
    return start(first, second);
  };
  return {
    ...body,
    result,
    task: created(task),
    suspended: created(suspended),
    later: created(setImmediate),
    ordered(results) {
      // A sum alone would not show that results lie in the wrong places.
      for (let i = 0; i < results.length; i++) {
        const expected = body.result(i);
        if (results[i] !== expected) throw new Error(`result ${i} is ${results[i]}, not ${expected}`);
      }
      return body.ordered(results);
    },
    discarded: () => count.takeSum(),
  };
}
