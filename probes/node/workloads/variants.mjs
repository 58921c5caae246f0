// The variants of `fanout` and `nop`, and how a request for one is performed.

import { counted } from "./body.mjs";
import { Count } from "./count.mjs";

const NO_TASK = "an async function that never awaits is run at the call";
const SUSPENDED = "the body awaits null once, so that the rest of it is a microtask";
const MACROTASK = "a callback of the event loop per task, no promise";

/** Most elements that `Promise.all` and `Promise.allSettled` take in V8. */
const MAX_ALL = 2 ** 21 - 2;
/** A sum of `31 * i` is an exact number up to here. */
const MAX_SUM = 24_000_000;

const TWO = ["ordered", "discard"];
const THREE = ["ordered", "completion", "discard"];

/** `form` is the function in `forms.mjs`; `suspend` chooses the task that is suspended once. */
export const VARIANTS = [
  { name: "await_each", form: "awaitEach", orders: TWO, maxSize: MAX_SUM },
  { name: "await_in_order", form: "awaitInOrder", orders: TWO, maxSize: MAX_SUM },
  { name: "Promise.all", form: "all", orders: THREE, maxSize: MAX_ALL },
  { name: "Promise.allSettled", form: "allSettled", orders: TWO, maxSize: MAX_ALL },
]
  .flatMap((variant) => [
    { ...variant, suspend: false, createsTask: false, note: NO_TASK },
    { ...variant, name: `${variant.name}/suspend`, suspend: true, createsTask: true, note: SUSPENDED },
  ])
  .concat({
    name: "setImmediate",
    form: "immediate",
    orders: THREE,
    maxSize: MAX_SUM,
    suspend: false,
    createsTask: true,
    note: MACROTASK,
  });

/**
 * Does all iterations of `variant` inside the timed part, with tasks of `inner`, at most `window` alive at once, and
 * `after` once per iteration where there is one.
 */
export async function perform(run, variant, inner, window, order, after) {
  const count = run.verify ? new Count() : null;
  const body = count ? counted(count, inner) : inner;
  const task = variant.suspend ? body.suspended : body.task;
  const plan = { task, body, order, size: run.size, window: Math.min(window || run.size, run.size) };
  // A copy of the module of its own for each kind of task; see there.
  const forms = await import(`./forms.mjs?${inner.kind},${variant.suspend},${run.verify}`);
  const form = forms[variant.form];
  const slowed = async (phases) => {
    const answer = await form(plan, phases);
    after();
    return answer;
  };
  const timing = await run.time(after ? slowed : (phases) => form(plan, phases));
  return count ? count.report(run, timing) : timing;
}
