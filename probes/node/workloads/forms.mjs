// The ways of starting tasks and waiting for them. A form does one iteration; it takes a plan, which holds the body of
// the tasks, how many to start and how many may be alive at once, and the phases. With a window it does one batch of
// tasks after another.
//
// This module is loaded once per kind of body (`formsOf`): V8 keeps what it has seen at a call per function, and a call
// that has met several kinds of task is slower than in a program that has one.

/** Each task awaited where it is made: one after another, whatever the window. */
export async function awaitEach({ task, size, order, body }) {
  if (order === "discard") {
    for (let i = 0; i < size; i++) await task(i);
    return body.discarded(size);
  }
  const results = [];
  for (let i = 0; i < size; i++) results.push(await task(i));
  return body.ordered(results);
}

/** An array of promises, each awaited in the order of creation. */
export async function awaitInOrder({ task, size, window, order, body }, phases) {
  const results = [];
  for (let start = 0; start < size; start += window) {
    const tasks = started(task, start, Math.min(start + window, size), phases);
    if (order === "discard") for (let i = 0; i < tasks.length; i++) await tasks[i];
    else for (let i = 0; i < tasks.length; i++) results.push(await tasks[i]);
  }
  return order === "discard" ? body.discarded(size) : body.ordered(results);
}

/** `Promise.all`; in the order `completion`, each promise adds its result up in a `then`. */
export async function all({ task, size, window, order, body }, phases) {
  const batches = [];
  let sum = body.zero;
  const add = (result) => {
    sum = body.add(sum, result);
  };
  for (let start = 0; start < size; start += window) {
    const end = Math.min(start + window, size);
    if (order === "completion") await Promise.all(startedThen(task, start, end, phases, add));
    else if (order === "discard") await Promise.all(started(task, start, end, phases));
    else batches.push(await Promise.all(started(task, start, end, phases)));
  }
  if (order === "completion") return sum;
  return order === "discard" ? body.discarded(size) : body.ordered(joined(batches));
}

/** `Promise.allSettled`, the results taken out of what it says of each. */
export async function allSettled({ task, size, window, order, body }, phases) {
  const batches = [];
  for (let start = 0; start < size; start += window) {
    const settled = await Promise.allSettled(started(task, start, Math.min(start + window, size), phases));
    if (order !== "discard") batches.push(settled.map(value));
  }
  return order === "discard" ? body.discarded(size) : body.ordered(joined(batches));
}

/** `setImmediate`: each task a callback in the event loop's queue, the last one of a batch tells the end. */
export async function immediate({ size, window, order, body }, phases) {
  const { result, later, add } = body;
  const slots = order === "ordered" ? new Array(size).fill(body.zero) : [];
  let left = 0;
  let sum = body.zero;
  let done;
  const task = {
    ordered(i) {
      slots[i] = result(i);
      if (--left === 0) done();
    },
    completion(i) {
      sum = add(sum, result(i));
      if (--left === 0) done();
    },
    discard(i) {
      result(i);
      if (--left === 0) done();
    },
  }[order];
  for (let start = 0; start < size; start += window) {
    const end = Math.min(start + window, size);
    left = end - start;
    await new Promise((resolve) => {
      done = resolve;
      for (let i = start; i < end; i++) later(task, i);
      phases.created();
    });
  }
  if (order === "completion") return sum;
  return order === "discard" ? body.discarded(size) : body.ordered(slots);
}

function started(task, start, end, phases) {
  const tasks = [];
  for (let i = start; i < end; i++) tasks.push(task(i));
  phases.created();
  return tasks;
}

function startedThen(task, start, end, phases, then) {
  const tasks = [];
  for (let i = start; i < end; i++) tasks.push(task(i).then(then));
  phases.created();
  return tasks;
}

const value = (settled) => settled.value;

/** The results of all batches; those of a single one as they are. */
function joined(batches) {
  return batches.length === 1 ? batches[0] : batches.flat();
}
