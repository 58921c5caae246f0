// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

import { cpuNs, resolutionNs, wallNs } from "./clock.mjs";

export const PROTOCOL = 1;

/** What `param` and `variant` declared: name of the workload to `{ params: Map, variants: Map }`. */
export const workloads = new Map();

/** Declares a parameter of a workload; the type of its default is its type, and a word is one of `choices`. */
export function param(workload, name, byDefault, help, choices = []) {
  declared(workload).params.set(name, { name, default: byDefault, choices, help });
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
  const fields = { name, creates_task: createsTask, only, max_size: maxSize, unavailable, note };
  declared(workload).variants.set(name, { fields, perform });
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
    workloads: [...workloads].map(([workload, { params, variants }]) => ({
      name: workload,
      params: [...params.values()],
      variants: [...variants.values()].map(({ fields }) => fields),
    })),
  };
}

function declared(workload) {
  if (!workloads.has(workload)) workloads.set(workload, { params: new Map(), variants: new Map() });
  return workloads.get(workload);
}
