// A worker: a thread with an event loop of its own, which runs its loop once for each message, and reports what it did since
// it last reported.

import { parentPort, workerData } from "node:worker_threads";

import { wallNs } from "../../sdk/clock.mjs";
import { Loop } from "./loop.mjs";

const loop = await Loop.made(workerData);
let wall = 0n;

parentPort.on("message", async (asked) => {
  if (asked === "report") {
    parentPort.postMessage({ wall: Number(wall), wrong: loop.wrong, counted: loop.count?.report() });
    wall = 0n;
    return;
  }
  try {
    const began = wallNs();
    const right = await loop.run();
    wall += wallNs() - began;
    parentPort.postMessage({ right });
  } catch (error) {
    parentPort.postMessage({ right: 0, failed: String(error?.message ?? error) });
  }
});
parentPort.postMessage("ready");
