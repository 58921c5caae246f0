// The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would
// not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores.

import { getHeapSpaceStatistics } from "node:v8";

import { cpuNs, wallNs } from "./clock.mjs";

// A sum of numbers is moved into a BigInt from here on; half of what a number keeps exact.
const SAFE = 2 ** 52;

// Reachable from outside of its function, or the compiler would leave the block out.
let block;

/**
 * Fills a part of the young heap, untimed, that follows from the seed. A sample of few iterations holds one collection
 * more or less, and each meets more or fewer tasks alive, as the heap is fuller or emptier when it begins. Processes of a
 * row begin alike: the same 17,000 tasks cost 427 to 659 ns each, a row's median of 18 processes, by what was allocated
 * before them. With this, the means of three such rows were within 2 %. Returns how long it took.
 */
function anywhereInACycle(seed) {
  const began = { wall: wallNs(), cpu: cpuNs() };
  const young = getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  const part = (Math.imul(seed % 2 ** 32, 0x9e3779b1) >>> 0) / 2 ** 32;
  const bytes = part * ((young?.space_used_size ?? 0) + (young?.space_available_size ?? 0));
  // An array of 125 numbers has a KB.
  for (let filled = 0; filled < bytes; filled += 1024) block = new Array(125).fill(0);
  block = undefined;
  return { wall: Number(wallNs() - began.wall), cpu: cpuNs() - began.cpu };
}

/**
 * Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer or a promise of it: a
 * number up to 2^52, or a BigInt. With `emptyHeap` the young heap is left as it is.
 */
export async function timed(one, { iterations, seed, phases: wantsPhases, counters, emptyHeap }) {
  const phases = new Phases(wantsPhases);
  // What it fills would be counted too.
  const filling = counters || emptyHeap ? undefined : anywhereInACycle(seed);
  let total = 0n;
  let sum = 0;
  const wall = wallNs();
  const cpu = cpuNs();
  for (let iteration = 0; iteration < iterations; iteration++) {
    phases.begin();
    let answer = one(phases);
    if (typeof answer === "object") answer = await answer;
    if (typeof answer === "number" && sum < SAFE) {
      sum += answer;
    } else {
      total += BigInt(answer) + BigInt(sum);
      sum = 0;
    }
  }
  const cpuEnd = cpuNs();
  const wallEnd = wallNs();
  const answer = BigInt.asUintN(64, total + BigInt(sum));
  const extra = { ...phases.extra(), ...(filling && { setup_wall_ns: filling.wall, setup_cpu_ns: filling.cpu }) };
  return { wall_ns: Number(wallEnd - wall), cpu_ns: cpuEnd - cpu, answer: exact(answer), extra };
}

/**
 * Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and `teardown(made)` ends
 * it. What both took is told beside. Clocks are read around each iteration, for some 2 us: let one take 100 us or more.
 */
export async function timedEach(setup, one, teardown, { iterations, seed, phases: wantsPhases, counters, emptyHeap }) {
  const phases = new Phases(wantsPhases);
  const filling = counters || emptyHeap ? { wall: 0, cpu: 0 } : anywhereInACycle(seed);
  const sums = { wall: 0, cpu: 0, answer: 0n };
  const wallBegin = wallNs();
  const cpuBegin = cpuNs();
  for (let iteration = 0; iteration < iterations; iteration++) {
    const made = await setup();
    const wall = wallNs();
    const cpu = cpuNs();
    phases.begin();
    const answer = await one(phases, made);
    sums.cpu += cpuNs() - cpu;
    sums.wall += Number(wallNs() - wall);
    sums.answer += BigInt(answer);
    await teardown?.(made);
  }
  const rest = { cpu: cpuNs() - cpuBegin - sums.cpu, wall: Number(wallNs() - wallBegin) - sums.wall };
  const told = { setup_wall_ns: filling.wall + Math.max(rest.wall, 0), setup_cpu_ns: filling.cpu + Math.max(rest.cpu, 0) };
  const answer = exact(BigInt.asUintN(64, sums.answer));
  return { wall_ns: sums.wall, cpu_ns: sums.cpu, answer, extra: { ...phases.extra(), ...told } };
}

/** A number where it is exact, otherwise a string of decimal digits. */
function exact(answer) {
  return answer <= Number.MAX_SAFE_INTEGER ? Number(answer) : answer.toString();
}

/** The share of creation, summed over iterations. Reads no clock unless the request has `phases`. */
class Phases {
  #on;
  #sum = [0, 0];
  // What the clocks read, less the sums, when the iteration began.
  #before = [0, 0];

  constructor(on) {
    this.#on = on;
  }

  /**
   * Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
   * tasks until near its end), the last call counts.
   */
  created() {
    if (this.#on) this.#sum = [Number(wallNs()) - this.#before[0], cpuNs() - this.#before[1]];
  }

  begin() {
    if (this.#on) this.#before = [Number(wallNs()) - this.#sum[0], cpuNs() - this.#sum[1]];
  }

  extra() {
    return this.#sum[0] === 0 ? {} : { create_wall_ns: this.#sum[0], create_cpu_ns: this.#sum[1] };
  }
}
