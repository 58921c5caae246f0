// A probe of your own for Node. Try it: taskscale run --probe my_probe.mjs
// What to change: the body of the function; the names; one more variant(...) for each further way of doing it.
import { param, serve, variant } from "taskscale-probe";

const task = async (i) => 31 * i; // what one task does: put your own code here; the answer is the sum of 31 * i

// `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
param("fanout", "order", "ordered", "how results are collected", ["ordered"]);

// createsTask: does the scheduler see each task? An async function that never awaits is run where it is called: no.
variant("fanout", "mine", { createsTask: false }, (run) =>
  // What stands in `run.time` is timed, and repeated as often as the tool wants. It returns the sum of the results.
  run.time(async (phases) => {
    const tasks = Array.from({ length: run.size }, (_, i) => task(i));
    phases.created(); // all tasks are started: tells the cost of starting from that of waiting; may be left out
    return (await Promise.all(tasks)).reduce((sum, result) => sum + result, 0);
  }),
);

await serve("mine", "1.0"); // the name in the table, and a version of yours
