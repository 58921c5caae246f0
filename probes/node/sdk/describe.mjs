// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

import { counted } from "./counters.mjs";
import { cpuNs, resolutionNs, wallNs } from "./clock.mjs";

export const PROTOCOL = 1;

/** What `param` and `variant` declared, in that order and as the description says it. */
export const workloads = [];

/** How each variant is performed. */
export const performs = new Map();

/** Declares a parameter of a workload; the type of its default is its type, and a word is one of `choices`. */
export function param(workload, name, byDefault, help, choices = []) {
  declare(workload).params.push({ name, default: byDefault, choices, help });
}

/**
 * Declares a way of doing a workload: `perform` takes a run and returns what `run.time` gave.
 *
 * `createsTask` (true where absent) says whether each unit is a task that the scheduler sees. `options` may also hold
 * `only`, `maxSize`, `unavailable` and `note`; it may be left out.
 */
export function variant(workload, name, options, perform) {
  if (typeof options === "function") return variant(workload, name, {}, options);
  const { createsTask = true, only, maxSize, unavailable, note } = options;
  const made = { name, creates_task: createsTask, only, max_size: maxSize, unavailable, note };
  declare(workload).variants.push(made);
  performs.set(made, perform);
}

/** The workload of that name, which the first that is declared of it makes. */
function declare(name) {
  const known = workloads.find((one) => one.name === name);
  return known ?? workloads[workloads.push({ name, params: [], variants: [] }) - 1];
}

/** The reply to `describe`. Measures the clocks' resolution, which takes a few milliseconds. */
export function description(name, version) {
  const toolchain = `node ${process.versions.node} (V8 ${process.versions.v8})`;
  return {
    type: "description",
    protocol: PROTOCOL,
    runtime: { name, language: "javascript", version, toolchain },
    clock: { wall_resolution_ns: resolutionNs(wallNs), cpu_resolution_ns: resolutionNs(cpuNs) },
    // Compiled while it runs: a fresh process wants a longer warm-up.
    jit: true,
    workers: 1,
    counters: counted,
    workloads,
  };
}
