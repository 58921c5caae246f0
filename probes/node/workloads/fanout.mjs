// `fanout`: start `size` tasks, collect `size` results.

import { param, variant } from "../sdk/index.mjs";
import { plain, spun } from "./body.mjs";
import { spin } from "./spin.mjs";
import { VARIANTS, perform } from "./variants.mjs";

/**
 * The workload `fanout`. Answer of an iteration: the sum of the tasks' results; in the order `discard`, where a timed
 * run has no results, the number of tasks started.
 */
export function declare() {
  param("fanout", "order", "ordered", "how results are collected", ["ordered", "completion", "discard"]);
  param("fanout", "work", 0, "steps of spin per task; 0: the task gives 31 * i");
  param("fanout", "window", 0, "most tasks alive at once; 0: all");
  param("fanout", "extra_spin", 0, "steps of spin once per iteration: a slow-down to be found");
  for (const { orders, ...one } of VARIANTS) {
    variant("fanout", one.name, { ...one, only: { order: orders } }, (run) => {
      const { order, work, window, extra_spin: extra } = run.params;
      const body = work === 0 ? plain() : spun(run.seed, work);
      return perform(run, one, body, window, order, extra > 0 && (() => spin(run.seed, 0, extra)));
    });
  }
}
