// `remote`: `size` messages that worker threads post to the loop of the main thread.
//
// The workers are started before the timed part, and wait. Each iteration lets them go, all at once, and ends when the last
// message has been handled. What handles a message adds one to a count.

import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";

import { param, variant } from "../sdk/index.mjs";

const MOST_PRODUCERS = 64;

/** The workload `remote`. Answer of an iteration: the number of messages that have been handled. */
export function declare() {
  param("remote", "producers", 1, "worker threads that share the messages");
  variant("remote", "worker/postMessage", { note: "a message event for each, no promise" }, fromWorkers);
  variant("remote", "MessageChannel/local", { note: "channels of the main thread in place of the workers" }, fromHere);
}

/** The number of messages of each producer: as even a share as can be. */
export function shares({ size, params: { producers } }) {
  if (producers < 1 || producers > MOST_PRODUCERS) {
    throw new RangeError(`producers is ${producers}; give 1 to ${MOST_PRODUCERS}`);
  }
  return Array.from({ length: producers }, (_, one) => Math.floor(size / producers) + (one < size % producers ? 1 : 0));
}

/** The messages of the present iteration. The last one ends it. */
const ran = { count: 0, all: 0, end: undefined };

function handle() {
  if (++ran.count === ran.all) ran.end(ran.count);
}

/** An iteration: `begin` has the messages posted. */
function iteration(all, begin) {
  return new Promise((resolve) => {
    Object.assign(ran, { count: 0, all, end: resolve });
    begin();
  });
}

/** The workers of the last request: they are kept, since a worker takes long to start. */
let kept = { workers: [] };

/**
 * So many workers, which wait until the number `state[0]` changes: how often they were let go. `state[1]` is how often any of
 * them has posted its share, and `state[2 + i]` the share of worker i.
 */
async function ready(number) {
  if (kept.workers.length === number) return kept;
  await Promise.all(kept.workers.map((worker) => worker.terminate()));
  kept = { workers: [] };
  const state = new Int32Array(new SharedArrayBuffer(4 * (2 + number)));
  const file = new URL("./remote_worker.mjs", import.meta.url);
  const workers = Array.from(state.subarray(2), (_, id) => new Worker(file, { workerData: { state, id } }));
  await Promise.all(workers.map((worker) => once(worker, "message")));
  for (const worker of workers) {
    worker.on("message", handle);
    worker.unref();
  }
  kept = { workers, state };
  return kept;
}

async function fromWorkers(run) {
  // A worker without a share would not be waited for, and might see two openings as one.
  const each = shares(run).filter((share) => share > 0);
  const { state, workers } = await ready(each.length);
  // The last of them may not have counted its share yet.
  for (let done; (done = Atomics.load(state, 1)) !== state[0] * each.length; ) Atomics.wait(state, 1, done);
  state.set(each, 2);
  const open = () => {
    Atomics.add(state, 0, 1);
    Atomics.notify(state, 0);
  };
  // Workers that wait do not keep the process, but for the time of a request.
  for (const worker of workers) worker.ref();
  try {
    return await run.time(() => iteration(run.size, open));
  } finally {
    for (const worker of workers) worker.unref();
  }
}

async function fromHere(run) {
  const channels = shares(run).map((share) => ({ share, ...new MessageChannel() }));
  for (const { port2 } of channels) port2.on("message", handle);
  const post = () => {
    for (const { share, port1 } of channels) for (let left = share; left > 0; left--) port1.postMessage(1);
  };
  try {
    return await run.time(() => iteration(run.size, post));
  } finally {
    for (const { port1 } of channels) port1.close();
  }
}
