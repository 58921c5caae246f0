// What V8 itself counts, and what reads it.

import { Session } from "node:inspector";
import { PerformanceObserver } from "node:perf_hooks";

export const counted = {
  allocations: "HeapProfiler.startSampling, each object",
  bytes: "HeapProfiler.startSampling",
  collections: "PerformanceObserver gc",
  pause_ns: "PerformanceObserver gc",
  rough_bytes: "HeapProfiler.startSampling, some 20,000 objects",
};

// V8 keeps a record for each sampled object: 2 million take some 300 MB.
const SAMPLES = 2_000_000;
// So many give the bytes within 1 %.
const ROUGH_SAMPLES = 20_000;
// Bytes between two of them where nothing is known of a request.
const ROUGH_INTERVAL = 16_384;
// What an object has at least, on the average of a program.
const LEAST = 32;

// What Node's own buffers, of streams and files, may rise by.
const UNSEEN = 65_536;

// Bytes an iteration, by what is asked for, as the last request told.
const bytes = new Map();

/** Begins to count what `run` asks for; call what is returned for the counts. */
export function counters(run) {
  if (run.counters === "memory") return memory(run, ofMemory);
  if (run.counters === "rough_bytes") return memory(run, roughly);
  if (run.counters === "collector") return collector();
  return () => undefined;
}

/**
 * Has V8 sample its heap: each object where the last request was small enough for that, or else one in so many bytes,
 * which gives the bytes within 0.1 % and does not tell how many objects there are. Objects that V8 allocates in one piece
 * count as one.
 */
function memory({ workload, variant, size, iterations, params }, interval) {
  const name = JSON.stringify([workload, variant, size, params]);
  const samplingInterval = interval(bytes.has(name) ? bytes.get(name) * iterations : Infinity);
  const session = new Session();
  session.connect();
  const included = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
  ask(session, "HeapProfiler.startSampling", { samplingInterval, ...included });
  const { arrayBuffers } = process.memoryUsage();
  return () => {
    const beside = Math.abs(process.memoryUsage().arrayBuffers - arrayBuffers);
    const { profile } = ask(session, "HeapProfiler.stopSampling");
    session.disconnect();
    const total = selfSize(profile.head);
    bytes.set(name, total / iterations);
    const each = samplingInterval === 1;
    const reason = "a request allocates more objects than V8 can keep a record of";
    return {
      bytes: beside > Math.max(UNSEEN, total / 1000) ? outside() : Math.round(total),
      allocations: each ? profile.samples.length : { reason },
    };
  };
}

/** Bytes between two samples of a request that is expected to allocate so many. */
function ofMemory(expected) {
  if (expected / LEAST <= SAMPLES) return 1;
  return Math.min(2 ** 20, Math.max(64, Math.ceil(expected / SAMPLES)));
}

/** The same for bytes within 1 %. */
function roughly(expected) {
  return expected === Infinity ? ROUGH_INTERVAL : Math.max(64, Math.ceil(expected / ROUGH_SAMPLES));
}

/**
 * Why the bytes of a request with large typed arrays are not told. Buffers lie outside V8's heap, where its sampler does
 * not look, and Node tells how many bytes of them there are and not how many there were.
 */
function outside() {
  return {
    reason: "it makes typed arrays, whose buffers lie outside V8's heap and are not counted",
    remedy: "ask for the most that is held at once: --metrics rss",
  };
}

function ask(session, method, params) {
  let answer;
  session.post(method, params, (error, result) => {
    if (error) throw new Error(`${method}: ${error.message}`);
    answer = result;
  });
  return answer;
}

function selfSize(head) {
  let total = 0;
  for (const nodes = [head]; nodes.length > 0; ) {
    const node = nodes.pop();
    total += node.selfSize;
    nodes.push(...node.children);
  }
  return total;
}

/** Listens to the collector. Its entries come through the event loop, after the collection. */
function collector() {
  const seen = [];
  const observer = new PerformanceObserver((list) => seen.push(...list.getEntries()));
  observer.observe({ entryTypes: ["gc"] });
  return async () => {
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    seen.push(...observer.takeRecords());
    observer.disconnect();
    const pause = seen.reduce((sum, entry) => sum + entry.duration, 0);
    return { collections: seen.length, pause_ns: Math.round(pause * 1e6) };
  };
}
