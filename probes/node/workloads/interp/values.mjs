// Values: numbers, strings, booleans, arrays, and these two. An environment is a linked list of cells, undefined at its
// end.

export class Failure {
  constructor(text) {
    this.text = text;
  }

  toJSON() {
    throw new Error(`a request's output is no value: ${this.text}`);
  }
}

/** A lambda with the environment in which it was written. */
export class Closure {
  constructor(env, written) {
    this.env = env;
    this.written = written;
  }

  toJSON() {
    throw new Error("a request's output is no value: a lambda");
  }
}

export class Cell {
  constructor(name, value, rest) {
    this.name = name;
    this.value = value;
    this.rest = rest;
  }
}

/** The value that was bound last under `name`. */
export function find(env, name) {
  for (let cell = env; cell !== undefined; cell = cell.rest) {
    if (cell.name === name) return cell.value;
  }
  return new Failure(`no variable ${name}`);
}

/** The first error among these values, or undefined. */
export function failureIn(values) {
  for (const value of values) {
    if (value instanceof Failure) return value;
  }
  return undefined;
}

/** The list of these values, or the first error among them. */
export const listed = (values) => failureIn(values) ?? values;

/** Which part of an `if` a condition chooses; or 0, and `notABoolean` is the value of the `if`. */
export const branch = (condition) => (condition === true ? 1 : condition === false ? 2 : 0);

export const notABoolean = (condition) =>
  condition instanceof Failure ? condition : new Failure("a condition must be a boolean");

/** What is wrong with the arguments of `List::map`, or undefined. */
export function mismatch([list, closure]) {
  if (Array.isArray(list) && closure instanceof Closure && closure.written.name.length === 1) return undefined;
  return new Failure("List::map needs a list and a lambda of one parameter");
}

function range(values) {
  const [first, last] = values;
  if (values.length !== 2 || typeof first !== "number" || typeof last !== "number") {
    return new Failure("Int::range needs two integers");
  }
  const list = [];
  for (let i = first; i <= last; i++) list.push(i);
  return list;
}

function remainder(values) {
  if (values.length !== 2 || typeof values[0] !== "number" || typeof values[1] !== "number") {
    return new Failure("Int::% needs two integers");
  }
  return values[1] === 0 ? 0 : values[0] % values[1];
}

function equal(values) {
  if (values.length !== 2 || typeof values[0] !== "number" || typeof values[1] !== "number") {
    return new Failure("Int::== needs two integers");
  }
  return values[0] === values[1];
}

function toText(values) {
  if (values.length !== 1 || typeof values[0] !== "number") return new Failure("Int::toString needs an integer");
  return String(values[0]);
}

/** `List::map`, which may suspend. Each encoding has its own. */
export const MAP = { plain: undefined, future: undefined };

const builtin = (plain) => ({ plain, future: async (values) => plain(values) });

/** The builtins by name: each as a plain function and as an async one. */
export const BUILTINS = new Map([
  ["Int::range", builtin(range)],
  ["Int::%", builtin(remainder)],
  ["Int::==", builtin(equal)],
  ["Int::toString", builtin(toText)],
  ["List::map", MAP],
]);
