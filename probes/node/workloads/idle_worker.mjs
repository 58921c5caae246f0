// The worker of `idle`: sleeps until each task arrives, and says so.

import { parentPort } from "node:worker_threads";

const never = new Int32Array(new SharedArrayBuffer(4));

parentPort.on("message", ({ number, step }) => {
  const begun = performance.now();
  for (let i = 1; i <= number; i++) {
    for (let left; (left = begun + i * step - performance.now()) > 0; ) Atomics.wait(never, 0, 0, left);
    parentPort.postMessage(i);
  }
});
parentPort.postMessage("ready");
