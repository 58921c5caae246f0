// The garbage collector, which V8 cannot turn off, kept from running by a young heap that does not fill. The flags are those of
// the process (main.mjs).

import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics } from "node:v8";

/** The runtime of whose timed parts none may be collected. */
export const UNCOLLECTED = "node+large-semi-space";

/** Bytes of the young heap. */
const young = () => getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size;

/**
 * Times by `time(run)` what may not be collected. What earlier requests left is collected before, so that each begins with
 * an empty young heap. What the observer is told comes through the event loop, after the collection.
 */
export async function uncollected(run, time) {
  if (!globalThis.gc) throw new Error("the collector can be kept away only where it can be called: start Node with --expose-gc");
  globalThis.gc();
  const seen = [];
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntries()));
  await turns();
  observer.observe({ entryTypes: ["gc"] });
  let timing;
  try {
    timing = await time(Object.assign(run, { emptyHeap: true }));
    await turns();
  } finally {
    seen.push(...observer.takeRecords());
    observer.disconnect();
  }
  if (seen.length > 0) {
    const space = `the young heap of ${Math.round(young() / 2 ** 20)} MB`;
    const what = `the collector ran all the same (collections: ${seen.length}): ${space} ran out`;
    throw new Error(`${what} (${run.size} tasks, ${run.iterations} times); ask for fewer tasks (--size), or for node`);
  }
  timing.extra.gc_collections = [0];
  return timing;
}

async function turns() {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
}
