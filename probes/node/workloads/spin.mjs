// `spin`: `size` steps of the kernel in one call. Tells how long a step takes, so that `work` can be chosen.

import { variant } from "../sdk/index.mjs";

/** The workload `spin`. Answer of an iteration: `spin(seed, size)`. */
export function declare() {
  const options = { createsTask: false, note: "one call, no task; in two halves of 32 bits" };
  variant("spin", "loop", options, (run) => run.time(() => spin(run.seed, 0, run.size)));
}

// A state of 64 bits, as two halves and as a whole. The lower half comes first where bytes do (all but s390x).
const halves = new Uint32Array(2);
const whole = new BigUint64Array(halves.buffer);
whole[0] = 1n;
const [LOW, HIGH] = halves[0] === 1 ? [0, 1] : [1, 0];
const TWO_32 = 2 ** 32;

/**
 * `steps` dependent steps of `xorshift64`, started at `splitmix(seed + i)`, as a BigInt. Two to three ns a step: in
 * halves, since one BigInt per operation costs 1.5 times as much once compiled, and 3.5 times before. V8 may inline it,
 * but does not interleave the steps of several calls.
 */
export function spin(seed, i, steps) {
  // The seed may be the largest exact number: `seed + i` would be rounded.
  const low = (seed % TWO_32) + i;
  splitmix(Math.floor(seed / TWO_32) + Math.floor(low / TWO_32), low);
  let lo = halves[LOW] | 0;
  let hi = halves[HIGH] | 0;
  for (let step = 0; step < steps; step++) {
    hi ^= (hi << 13) | (lo >>> 19);
    lo ^= lo << 13;
    lo ^= (lo >>> 7) | (hi << 25);
    hi ^= hi >>> 7;
    hi ^= (hi << 17) | (lo >>> 15);
    lo ^= lo << 17;
  }
  halves[LOW] = lo;
  halves[HIGH] = hi;
  return whole[0];
}

/** `splitmix64`'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13). */
function splitmix(hi, lo) {
  halves[LOW] = lo;
  halves[HIGH] = hi;
  let z = BigInt.asUintN(64, whole[0] + 0x9e3779b97f4a7c15n);
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  whole[0] = z ^ (z >> 31n);
}
