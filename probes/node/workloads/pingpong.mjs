// `pingpong`: `size` round trips of a token between two tasks, over `pairs` pairs. A task passes the token on and then waits
// until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the token, and whoever began counts the
// trip only if that was done.

import { EventEmitter, once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";

import { param, variant } from "../sdk/index.mjs";

/** The workload `pingpong`. Answer of an iteration: the number of round trips. */
export function declare() {
  param("pingpong", "pairs", 1, "pairs of tasks that share the round trips");
  param("pingpong", "workers", "one", "event loops: one; cores: one more, in a worker thread", ["one", "cores"]);
  const loop = { only: { workers: ["one"] } };
  variant("pingpong", "promise", loop, (run) => perform(run, () => crossed(Resolved)));
  variant("pingpong", "events.once", loop, (run) => perform(run, () => crossed(Emitted)));
  variant("pingpong", "MessageChannel", loop, (run) => perform(run, ports));
  const note = "a worker thread answers for all pairs";
  variant("pingpong", "worker/MessageChannel", { only: { workers: ["cores"] }, note }, withWorker);
}

/** Does all iterations. `pair` gives the two ends of a new pair, each with `pass` and `take`. */
async function perform(run, pair) {
  return run.time(async () => {
    const tasks = [];
    for (const trips of shares(run)) {
      const [one, other] = pair();
      const answering = pong(other, trips);
      tasks.push(ping(one, trips).finally(() => one.close?.()), answering);
    }
    return sum(await Promise.all(tasks));
  });
}

/** The round trips of each pair: as even a share as can be. */
function shares({ size, params: { pairs } }) {
  return Array.from({ length: pairs }, (_, pair) => Math.floor(size / pairs) + (pair < size % pairs ? 1 : 0));
}

const sum = (numbers) => numbers.reduce((all, one) => all + one, 0);

/** The task that begins. Gives the number of trips from which the token came back as it should. */
export async function ping(end, trips) {
  let back = 0;
  for (let token = 0; token < trips; token++) {
    const answer = end.take();
    end.pass(token);
    if ((await answer) === token + 1) back++;
  }
  return back;
}

/** The task that answers. */
export async function pong(end, trips) {
  let next = end.take();
  for (let left = trips; left > 0; left--) {
    const token = await next;
    if (left > 1) next = end.take();
    end.pass(token + 1);
  }
  return 0;
}

/** The ends of a pair, of two directions of that class. */
function crossed(Direction) {
  const [there, back] = [new Direction(), new Direction()];
  const end = (to, from) => ({ pass: (token) => to.pass(token), take: () => from.take() });
  return [end(there, back), end(back, there)];
}

/** A promise for each token. */
class Resolved {
  #resolve;

  take() {
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  pass(token) {
    this.#resolve(token);
  }
}

/** An event for each token. */
class Emitted {
  #emitter = new EventEmitter();

  async take() {
    const [token] = await once(this.#emitter, "token");
    return token;
  }

  pass(token) {
    this.#emitter.emit("token", token);
  }
}

/** A port, which gives each message to a promise. */
export class Port {
  #port;
  #resolve;

  constructor(port) {
    this.#port = port;
    port.on("message", (token) => this.#resolve(token));
  }

  take() {
    return new Promise((resolve) => (this.#resolve = resolve));
  }

  pass(token) {
    this.#port.postMessage(token);
  }

  close() {
    this.#port.close();
  }
}

function ports() {
  const { port1, port2 } = new MessageChannel();
  return [new Port(port1), new Port(port2)];
}

let worker;

/** A worker that is there: it is made once in a process. */
async function started() {
  if (!worker) {
    worker = new Worker(new URL("./pingpong_worker.mjs", import.meta.url));
    worker.unref();
    await once(worker, "message");
  }
  return worker;
}

/** As `perform`, where the ends that answer are in a worker. Ports are made and handed over untimed. */
async function withWorker(run) {
  const answering = await started();
  const setup = () => {
    return shares(run).map((trips) => {
      const { port1, port2 } = new MessageChannel();
      answering.postMessage({ port: port2, trips }, [port2]);
      return { end: new Port(port1), trips };
    });
  };
  const one = async (_phases, pairs) => sum(await Promise.all(pairs.map(({ end, trips }) => ping(end, trips))));
  return run.timeEach(setup, one, (pairs) => pairs.forEach(({ end }) => end.close()));
}
