// `node --import sdk/register.mjs my_probe.mjs`: `import ... from "taskscale-probe"` then finds this SDK, wherever
// `my_probe.mjs` lies and without a package being installed.

import module from "node:module";

import { resolve } from "./resolve.mjs";

if (module.registerHooks) {
  // Node 22.15 and 23.5 on: in this thread.
  module.registerHooks({ resolve });
} else if (module.register) {
  // Node 18.19 and 20.6 on: in a thread of Node's, which sleeps once the imports are done.
  module.register("./resolve.mjs", import.meta.url);
} else {
  console.error(`taskscale: a probe file alone needs Node 18.19 or 20.6 or later, this is ${process.versions.node}`);
  process.exit(1);
}
