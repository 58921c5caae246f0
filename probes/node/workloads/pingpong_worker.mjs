// The worker of `pingpong`: answers on each port that it is given.

import { parentPort } from "node:worker_threads";

import { Port, pong } from "./pingpong.mjs";

parentPort.on("message", ({ port, trips }) => pong(new Port(port), trips));
parentPort.postMessage("ready");
