// What an instrumented run counts. Never part of a run whose time is kept.

import { threadId } from "node:worker_threads";

/** Executions, their results, and where and how many at once they were. */
export class Count {
  #executed = 0;
  #sum = 0n;
  #live = 0;
  #maxLive = 0;
  #workers = new Set();

  /** A task has been created; to be called by its creator, before. */
  created() {
    this.#live++;
    this.#maxLive = Math.max(this.#maxLive, this.#live);
  }

  /** A task has been done, with that result; to be called by the task, last. */
  executed(result) {
    this.#sum = BigInt.asUintN(64, this.#sum + BigInt(result));
    this.#executed++;
    this.#workers.add(threadId);
    this.#live--;
  }

  /** The sum of the results since it was last taken. */
  takeSum() {
    const sum = this.#sum;
    this.#sum = 0n;
    return sum;
  }

  /** Adds what was counted to `extra`, unless tasks are missing or too many. */
  report(run, timing) {
    const expected = run.size * run.iterations;
    if (this.#executed !== expected) {
      throw new Error(`${this.#executed} tasks were executed, ${expected} were asked for`);
    }
    Object.assign(timing.extra, { executed: this.#executed, max_live: this.#maxLive, workers_seen: this.#workers.size });
    return timing;
  }
}
