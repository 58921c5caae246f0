// Control, a step: an object as a map. V8 turns it from a small form (a class of its own) into a
// hash table after some keys; and the array of numbers becomes one of doubles half way.
import { serve, variant } from "taskscale-probe";

variant("count", "object", { createsTask: false }, (run) =>
  run.time(() => {
    const counts = {};
    const list = [];
    for (let i = 0; i < run.size; i++) {
      const word = `w${i % 2048}_${i >> 11}`;
      counts[word] = (counts[word] ?? 0) + 1;
      list.push(i < 8192 ? i : i + 0.5);
    }
    let sum = 0;
    for (const word in counts) sum += counts[word];
    return sum + list.length;
  }),
);

await serve("node_dictionary", process.versions.node);
