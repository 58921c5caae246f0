// Cliff that begins at some size: an array as a queue. V8 moves the start of a small array, but a
// large one (in the space of large objects) is copied by every shift().
import { serve, variant } from "taskscale-probe";

variant("queue", "shift", { createsTask: false }, (run) =>
  run.time(() => {
    const queue = [];
    for (let i = 0; i < run.size; i++) queue.push(i);
    let sum = 1;
    while (queue.length > 0) sum += queue.shift();
    return sum;
  }),
);

await serve("node_array_shift", process.versions.node);
