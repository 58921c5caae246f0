// The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would
// not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores.

import { cpuNs, wallNs } from "./clock.mjs";

// A sum of numbers is moved into a BigInt from here on; half of what a number keeps exact.
const SAFE = 2 ** 52;

/**
 * Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer or a promise of it: a
 * number up to 2^52, or a BigInt.
 */
export async function timed(one, iterations, wantsPhases) {
  const phases = wantsPhases ? new Phases() : NO_PHASES;
  let total = 0n;
  let sum = 0;
  const wall = wallNs();
  const cpu = cpuNs();
  for (let iteration = 0; iteration < iterations; iteration++) {
    phases.begin();
    let answer = one(phases);
    if (typeof answer === "object") answer = await answer;
    phases.end();
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
  return { wall_ns: Number(wallEnd - wall), cpu_ns: cpuEnd - cpu, answer: exact(answer), extra: phases.extra() };
}

/** A number where it is exact, otherwise a string of decimal digits. */
function exact(answer) {
  return answer <= Number.MAX_SAFE_INTEGER ? Number(answer) : answer.toString();
}

/** The share of creation, summed over iterations. */
class Phases {
  #sum = null;
  #begun = null;
  #mark = null;

  /**
   * Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
   * tasks until near its end), the last call counts.
   */
  created() {
    this.#mark = [Number(wallNs()), cpuNs()];
  }

  begin() {
    this.#mark = null;
    this.#begun = [Number(wallNs()), cpuNs()];
  }

  end() {
    if (this.#mark === null) return;
    this.#sum = (this.#sum ?? [0, 0]).map((sum, clock) => sum + this.#mark[clock] - this.#begun[clock]);
  }

  extra() {
    return this.#sum === null ? {} : { create_wall_ns: this.#sum[0], create_cpu_ns: this.#sum[1] };
  }
}

/** What stands there without `phases`: three empty calls per iteration, none per task. */
const NO_PHASES = { created() {}, begin() {}, end() {}, extra: () => ({}) };
