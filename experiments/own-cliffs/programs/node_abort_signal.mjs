// Cliff, tasks: n operations listen to one AbortSignal. addEventListener looks through the list of
// all listeners for one that is the same.
import { setMaxListeners } from "node:events";
import { serve, variant } from "taskscale-probe";

variant("cancel", "addEventListener", { createsTask: false }, (run) =>
  run.time(() => {
    const control = new AbortController();
    setMaxListeners(0, control.signal); // no warning
    let ended = 0;
    for (let i = 0; i < run.size; i++) {
      control.signal.addEventListener("abort", () => ended++, { once: true });
    }
    control.abort();
    return ended;
  }),
);

await serve("node_abort_signal", process.versions.node);
