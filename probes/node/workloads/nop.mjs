// `nop`: `size` tasks that do nothing, started and awaited: the forms of `fanout` without results.

import { param, variant } from "../sdk/index.mjs";
import { nothing } from "./body.mjs";
import { UNCOLLECTED, uncollected } from "./collector.mjs";
import { VARIANTS, perform } from "./variants.mjs";

/** The workload `nop`. Answer of an iteration: the number of tasks done. */
export function declare(runtime) {
  param("nop", "live", 0, "tasks alive at once, in batches; 0: all");
  for (const one of VARIANTS) {
    const time = (run) => perform(run, one, nothing(), run.params.live, "discard");
    variant("nop", one.name, one, runtime === UNCOLLECTED ? (run) => uncollected(run, time) : time);
  }
}
