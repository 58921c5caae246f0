// A worker of `scale`: a thread with an event loop of its own, which takes tasks until there are no more.

import { parentPort, workerData as next } from "node:worker_threads";

import { plain, spun } from "./body.mjs";

parentPort.on("message", async ({ size, seed, work }) => {
  const { task, add, zero } = work > 0 ? spun(seed, work) : plain();
  let executed = 0;
  let sum = zero;
  for (let i = Atomics.add(next, 0, 1); i < size; i = Atomics.add(next, 0, 1)) {
    sum = add(sum, await task(i));
    executed++;
  }
  parentPort.postMessage({ executed, sum: BigInt(sum) });
});
parentPort.postMessage("ready");
