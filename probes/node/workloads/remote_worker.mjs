// A worker of `remote`: posts its share of the messages whenever the number changes at which it waits, until it is terminated.

import { parentPort, workerData } from "node:worker_threads";

const { state, id } = workerData;
let opened = Atomics.load(state, 0);
parentPort.postMessage("ready");
for (;;) {
  // The notice of a change comes behind the change: it may find a worker that has seen it and waits for the next.
  while (Atomics.load(state, 0) === opened) Atomics.wait(state, 0, opened);
  opened = Atomics.load(state, 0);
  for (let left = Atomics.load(state, 2 + id); left > 0; left--) parentPort.postMessage(1);
  Atomics.add(state, 1, 1);
  Atomics.notify(state, 1);
}
