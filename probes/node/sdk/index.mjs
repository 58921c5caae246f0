// What a probe for Node needs besides its workloads: the loop of probe protocol 1, and the clocks.
//
// Import it for a probe of your own. This is a whole one, and `taskscale probe check` accepts it:
//
//     import { serve, variant } from "taskscale-probe";
//
//     variant("nop", "nextTick", async (run) =>
//       run.time(async () => {
//         const tick = (resolve) => process.nextTick(resolve, 1);
//         const done = await Promise.all(Array.from({ length: run.size }, () => new Promise(tick)));
//         return done.length;
//       }),
//     );
//
//     await serve("nextTick", process.versions.node);
//
// | module | holds |
// |---|---|
// | clock | the two clocks and how fine they are |
// | describe | what a probe says of itself: runtime, workloads, parameters, variants |
// | request | a request, made into a Run |
// | serve | one reply line per request line, until end of input |
// | timing | the timed loop |
// | register, resolve | make `import ... from "taskscale-probe"` find this file, wherever the user's own is |

export { param, variant } from "./describe.mjs";
export { next, say, serve } from "./serve.mjs";
