// The encodings. An instrumented run imports this file a second time, as `encodings.mjs?counts`: there COUNTS is true, and
// in the timed one a constant that V8 leaves out. Profiles of the two are apart, too.

import { setImmediate as nextRound } from "node:timers/promises";

import { BIN, CALL, IF, LET, LITERAL, VAR } from "./program.mjs";
import { BUILTINS, Cell, Closure, Failure, MAP, branch, failureIn, find, listed, mismatch, notABoolean } from "./values.mjs";

export const COUNTS = new URL(import.meta.url).search === "?counts";

/** What the evaluators of all encodings share. `every`: an element that it divides suspends; none where it is 0. */
class Machine {
  constructor(every, count) {
    this.every = every;
    this.count = count;
  }

  /** The function of a call, or the call's value where that is an error. */
  callee(node, values) {
    const failed = failureIn(values);
    if (failed !== undefined) return failed;
    if (COUNTS) this.count.called();
    return node.linked ?? BUILTINS.get(node.name) ?? new Failure(`no function ${node.name}`);
  }

  bind(env, name, value) {
    if (COUNTS) this.count.extended();
    return new Cell(name, value, env);
  }

  /** Begins the application to `element`. Returns whether it suspends. */
  begins(element) {
    if (COUNTS) this.count.begins(element);
    return this.every !== 0 && element % this.every === 0;
  }

  /** The environment of an application to `element`. */
  application(closure, element) {
    return this.bind(closure.env, closure.written.name[0], element);
  }
}

// Never woken: only the timeout ends the wait.
const ASLEEP = new Int32Array(new SharedArrayBuffer(4));
// In milliseconds. V8 gives no thread up for a timeout of 0.
const SHORTEST = 0.001;

/** Plain recursion, which cannot suspend. An element that would makes its thread sleep. */
export class Sync extends Machine {
  request(root) {
    return this.eval(root, undefined);
  }

  eval(node, env) {
    if (!COUNTS) return this.value(node, env);
    this.count.entered();
    const value = this.value(node, env);
    this.count.left();
    return value;
  }

  value(node, env) {
    const { parts } = node;
    switch (node.kind) {
      case LITERAL:
        return node.value;
      case VAR:
        return find(env, node.name);
      case BIN: {
        const left = this.eval(parts[0], env);
        return this.call(node, [left, this.eval(parts[1], env)]);
      }
      case IF: {
        const condition = this.eval(parts[0], env);
        const chosen = branch(condition);
        return chosen === 0 ? notABoolean(condition) : this.eval(parts[chosen], env);
      }
      case CALL: {
        const values = [];
        for (const part of parts) values.push(this.eval(part, env));
        return this.call(node, values);
      }
      case LET:
        return this.eval(parts[1], this.bind(env, node.name, this.eval(parts[0], env)));
      default:
        return new Closure(env, node);
    }
  }

  call(node, values) {
    const found = this.callee(node, values);
    if (found instanceof Failure) return found;
    return found === MAP ? this.map(values) : found.plain(values);
  }

  /** `List::map`. An element begins when the one before it has its value. */
  map(values) {
    const wrong = mismatch(values);
    if (wrong !== undefined) return wrong;
    const results = [];
    for (const element of values[0]) results.push(this.apply(values[1], element));
    return listed(results);
  }

  apply(closure, element) {
    if (this.begins(element)) {
      Atomics.wait(ASLEEP, 0, 0, SHORTEST);
      if (COUNTS) this.count.suspended();
    }
    const value = this.eval(closure.written.parts[0], this.application(closure, element));
    if (COUNTS) this.count.hasValue(element);
    return value;
  }
}

/** An async function at every node and builtin. */
export class Async extends Machine {
  request(root) {
    return this.eval(root, undefined);
  }

  eval(node, env) {
    return COUNTS ? this.counted(node, env) : this.value(node, env);
  }

  counted(node, env) {
    this.count.entered();
    return this.count.once(this.value(node, env), () => this.count.left());
  }

  async value(node, env) {
    const { parts } = node;
    switch (node.kind) {
      case LITERAL:
        return node.value;
      case VAR:
        return find(env, node.name);
      case BIN: {
        const left = await this.eval(parts[0], env);
        return await this.call(node, [left, await this.eval(parts[1], env)]);
      }
      case IF: {
        const condition = await this.eval(parts[0], env);
        const chosen = branch(condition);
        return chosen === 0 ? notABoolean(condition) : await this.eval(parts[chosen], env);
      }
      case CALL: {
        const values = [];
        for (const part of parts) values.push(await this.eval(part, env));
        return await this.call(node, values);
      }
      case LET:
        return await this.eval(parts[1], this.bind(env, node.name, await this.eval(parts[0], env)));
      default:
        return new Closure(env, node);
    }
  }

  /** A value or a promise of it. */
  call(node, values) {
    const found = this.callee(node, values);
    if (found instanceof Failure) return found;
    return found === MAP ? this.map(values) : found.future(values);
  }

  /** `List::map`. An element begins when the one before it has its value. */
  async map(values) {
    const wrong = mismatch(values);
    if (wrong !== undefined) return wrong;
    const results = [];
    for (const element of values[0]) results.push(await this.apply(values[1], element));
    return listed(results);
  }

  apply(closure, element) {
    const value = this.begins(element) ? this.later(closure, element) : this.body(closure, element);
    return COUNTS ? this.count.once(value, () => this.count.hasValue(element)) : value;
  }

  body(closure, element) {
    return this.eval(closure.written.parts[0], this.application(closure, element));
  }

  async later(closure, element) {
    await nextRound();
    if (COUNTS) this.count.suspended();
    return await this.body(closure, element);
  }
}

/** As `Async`; a literal has a promise that was fulfilled when the tree was made. */
export class AsyncCached extends Async {
  value(node, env) {
    return node.kind === LITERAL ? node.completed : super.value(node, env);
  }
}

/** As `Async`; builtins that cannot suspend are called, and nobody awaits them. */
export class SyncCaller extends Async {
  value(node, env) {
    if (node.kind === BIN) return this.binary(node, env);
    return node.kind === CALL ? this.called(node, env) : super.value(node, env);
  }

  async binary(node, env) {
    const left = await this.eval(node.parts[0], env);
    const values = [left, await this.eval(node.parts[1], env)];
    const found = this.callee(node, values);
    if (found instanceof Failure) return found;
    return found === MAP ? await this.map(values) : found.plain(values);
  }

  async called(node, env) {
    const values = [];
    for (const part of node.parts) values.push(await this.eval(part, env));
    const found = this.callee(node, values);
    if (found instanceof Failure) return found;
    return found === MAP ? await this.map(values) : found.plain(values);
  }
}

/** A result is a value or a promise, and what follows is chained only where it is one. */
export class Union extends Machine {
  request(root) {
    return this.eval(root, undefined);
  }

  eval(node, env) {
    if (!COUNTS) return this.value(node, env);
    this.count.entered();
    return this.watched(this.value(node, env), () => this.count.left());
  }

  /** Calls `end` when a result is there, which counts as one to be used once if it is pending. */
  watched(result, end) {
    if (isThenable(result)) return this.count.once(result, end);
    end();
    return result;
  }

  value(node, env) {
    const { parts } = node;
    switch (node.kind) {
      case LITERAL:
        return node.value;
      case VAR:
        return find(env, node.name);
      case BIN:
        return then(this.eval(parts[0], env), (left) =>
          then(this.eval(parts[1], env), (right) => this.call(node, [left, right])),
        );
      case IF:
        return then(this.eval(parts[0], env), (condition) => {
          const chosen = branch(condition);
          return chosen === 0 ? notABoolean(condition) : this.eval(parts[chosen], env);
        });
      case CALL:
        return inTurn(parts, (part) => this.eval(part, env), (values) => this.call(node, values));
      case LET:
        return then(this.eval(parts[0], env), (value) => this.eval(parts[1], this.bind(env, node.name, value)));
      default:
        return new Closure(env, node);
    }
  }

  call(node, values) {
    const found = this.callee(node, values);
    if (found instanceof Failure) return found;
    return found === MAP ? this.map(values) : found.plain(values);
  }

  /** `List::map`. An element begins when the one before it has its value. */
  map(values) {
    const wrong = mismatch(values);
    if (wrong !== undefined) return wrong;
    return inTurn(values[0], (element) => this.apply(values[1], element), listed);
  }

  apply(closure, element) {
    const result = this.begins(element) ? this.later(closure, element) : this.body(closure, element);
    return COUNTS ? this.watched(result, () => this.count.hasValue(element)) : result;
  }

  body(closure, element) {
    return this.eval(closure.written.parts[0], this.application(closure, element));
  }

  async later(closure, element) {
    await nextRound();
    if (COUNTS) this.count.suspended();
    return await this.body(closure, element);
  }
}

const isThenable = (result) => typeof result === "object" && typeof result.then === "function";

/** What `next` makes of a result: at once, or when it is there. */
const then = (result, next) => (isThenable(result) ? result.then(next) : next(result));

/** What `last` makes of the values of results, each of which is asked for when the one before it is there. */
function inTurn(all, ask, last) {
  const values = [];
  for (const one of all) {
    const result = ask(one);
    if (isThenable(result)) return restInTurn(all, values, result, ask, last);
    values.push(result);
  }
  return last(values);
}

async function restInTurn(all, values, result, ask, last) {
  values.push(await result);
  while (values.length < all.length) {
    const next = ask(all[values.length]);
    values.push(isThenable(next) ? await next : next);
  }
  return await last(values);
}
