// The workloads of the Node probe.
//
// | module | holds |
// |---|---|
// | fanout, nop, spin, drain, parked, bytes/, interp/ | one workload each |
// | variants | the variants of fanout and nop, and how one is performed |
// | forms | the ways of starting tasks and waiting for them |
// | body | what a task does |
// | count | what an instrumented run counts |

import * as bytes from "./bytes/index.mjs";
import * as drain from "./drain.mjs";
import * as fanout from "./fanout.mjs";
import * as interp from "./interp/index.mjs";
import * as nop from "./nop.mjs";
import * as parked from "./parked.mjs";
import * as spin from "./spin.mjs";

/** Declares all workloads. */
export function declare() {
  for (const workload of [fanout, nop, spin, drain, interp, parked, bytes]) workload.declare();
}
