// Control, nasty: a Map of strings to objects with arrays that grows to n, with the collector.
import { serve, variant } from "taskscale-probe";

variant("build", "Map", { createsTask: false }, (run) =>
  run.time(() => {
    const users = new Map();
    for (let i = 0; i < run.size; i++) {
      users.set(`user${i * 7919}`, { id: i, tags: [i, [i + 1]], next: { i } });
    }
    let sum = 1;
    for (const user of users.values()) sum += user.tags[1][0] + user.next.i;
    return sum;
  }),
);

await serve("node_map_gc", process.versions.node);
