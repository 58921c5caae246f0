// Cliff, tasks, small constant: n tasks await the same event of an emitter by events.once. Each
// listener takes itself out when the event comes; the list is searched from its end.
import { EventEmitter, once } from "node:events";
import { serve, variant } from "taskscale-probe";

async function task(emitter) {
  const [value] = await once(emitter, "ready");
  return value;
}

variant("wait", "once", { createsTask: true }, (run) =>
  run.time(async () => {
    const emitter = new EventEmitter();
    emitter.setMaxListeners(0);
    const tasks = Array.from({ length: run.size }, () => task(emitter));
    emitter.emit("ready", 1);
    return (await Promise.all(tasks)).reduce((sum, value) => sum + value, 0);
  }),
);

await serve("node_once", process.versions.node);
