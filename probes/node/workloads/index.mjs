// The workloads of the Node probe.
//
// | module | holds |
// |---|---|
// | fanout, nop, spin, drain, parked, scale, pingpong, remote, context, idle, cancel, blocking, bytes/, interp/ | one workload each |
// | variants | the variants of fanout and nop, and how one is performed |
// | forms | the ways of starting tasks and waiting for them |
// | body | what a task does |
// | count | what an instrumented run counts |
// | collector | nop without the collector |

import * as blocking from "./blocking.mjs";
import * as bytes from "./bytes/index.mjs";
import * as cancel from "./cancel.mjs";
import { UNCOLLECTED } from "./collector.mjs";
import * as context from "./context.mjs";
import * as drain from "./drain.mjs";
import * as fanout from "./fanout.mjs";
import * as idle from "./idle.mjs";
import * as interp from "./interp/index.mjs";
import * as nop from "./nop.mjs";
import * as parked from "./parked.mjs";
import * as pingpong from "./pingpong.mjs";
import * as remote from "./remote.mjs";
import * as scale from "./scale.mjs";
import * as spin from "./spin.mjs";

/** Declares the workloads of that runtime. Without the collector it is nop alone. */
export function declare(runtime) {
  const tasks = [fanout, nop, spin, drain, interp, parked, scale, pingpong, remote, context, idle, cancel, blocking];
  const all = runtime === UNCOLLECTED ? [nop] : [...tasks, bytes];
  for (const workload of all) workload.declare(runtime);
}
