// A `run` request, made into a Run. The tool has held it to the description before it was sent (`probes/PROTOCOL.md`).

import { performs, workloads } from "./describe.mjs";
import { timed, timedEach } from "./timing.mjs";

/**
 * What a `run` request asks for: `verify` asks that every task's execution is counted by what it did, `phases` that the
 * share of creation is told; `params` has a value for every declared parameter.
 */
export class Run {
  constructor({ id, workload, variant, size, iterations, seed, params }) {
    const { verify = false, phases = false, counters } = params;
    Object.assign(this, { id, workload, variant, size, iterations, seed, verify, phases, counters, params });
  }

  /** Times `iterations` calls of `one(phases)`, which does the workload once and gives its answer. */
  time(one) {
    return timed(one, this);
  }

  /**
   * Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and `teardown(made)`
   * ends it. What both took is told beside.
   */
  timeEach(setup, one, teardown) {
    return timedEach(setup, one, teardown, this);
  }
}

/**
 * How what is asked for is performed, and the run, in which every declared parameter has a value: the one given, or else
 * the default, or where the variant excludes that, the first value that it allows.
 */
export function request(message) {
  const workload = known(workloads, message.workload, "workload");
  const variant = known(workload.variants, message.variant, "variant");
  const params = { ...message.params };
  for (const param of workload.params) {
    const allowed = variant.only?.[param.name] ?? [param.default];
    params[param.name] ??= allowed.includes(param.default) ? param.default : allowed[0];
  }
  return [performs.get(variant), new Run({ ...message, params })];
}

/** The one of that name; throws where there is none. */
function known(all, name, what) {
  const found = all.find((one) => one.name === name);
  if (found) return found;
  throw new Error(`unknown ${what} ${JSON.stringify(name)}; known here: ${all.map((one) => one.name).join(" ")}`);
}
