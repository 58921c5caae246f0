// A `run` request, checked against the description: every field present and of its kind, every parameter declared.

import { workloads } from "./describe.mjs";
import { timed } from "./timing.mjs";

/** A request that cannot be done. Its text says what failed, on what, and what to do. */
export class Refused extends Error {}

/**
 * What a `run` request asks for.
 *
 * `size` and `iterations` are at least 1; `seed` is at most 2^53 - 1; `verify` asks that every task's execution is
 * counted by what it did, `phases` that the share of creation is told; `params` has a value for every declared parameter.
 */
export class Run {
  /** Reads `message`; throws `Refused` where it cannot be done. */
  constructor(message) {
    const declared = named(workloads, field(message, "workload", "string"), "workload");
    const name = field(message, "variant", "string");
    const { fields, perform } = named(declared.variants, name, "variant");
    this.perform = perform;
    this.size = atLeastOne(message, "size");
    if (this.size > (fields.max_size ?? this.size)) {
      throw new Refused(`size ${this.size} is above ${fields.max_size}, the most that variant ${show(name)} can bear`);
    }
    this.seed = integer(message, "seed");
    this.id = integer(message, "id");
    this.iterations = atLeastOne(message, "iterations");
    const given = message.params === undefined ? {} : message.params;
    if (!isObject(given)) throw new Refused(`params is ${show(given)}, not an object`);
    const { verify = false, phases = false, ...values } = given;
    this.verify = flag("verify", verify);
    this.phases = flag("phases", phases);
    this.params = chosen(declared.params, fields, values);
    if (fields.unavailable) {
      throw new Refused(`variant ${show(name)} ${fields.unavailable.reason}; ${fields.unavailable.remedy}`);
    }
  }

  /** Times `iterations` calls of `one(phases)`, which does the workload once and gives its answer. */
  time(one) {
    return timed(one, this.iterations, this.phases);
  }
}

/** All declared parameters, with the values given or else their defaults. */
function chosen(declared, fields, given) {
  for (const [name, value] of Object.entries(given)) {
    const param = named(declared, name, "parameter");
    if (!takes(param, value)) throw new Refused(`parameter ${name} cannot be ${show(value)}; it is ${kind(param)}`);
  }
  const values = {};
  for (const [name, param] of declared) {
    const allowed = fields.only?.[name] ?? [param.default];
    values[name] = given[name] ?? (allowed.includes(param.default) ? param.default : allowed[0]);
    if (fields.only?.[name] && !allowed.includes(values[name])) {
      const wanted = `${name} ${show(values[name])}, only with ${allowed.map(show).join(", ")}`;
      throw new Refused(`variant ${show(fields.name)} cannot be run with ${wanted}`);
    }
  }
  return values;
}

function takes(param, value) {
  const fits = typeof param.default === "number" ? isInteger(value) : typeof value === typeof param.default;
  return fits && (param.choices.length === 0 || param.choices.includes(value));
}

function kind(param) {
  if (param.choices.length > 0) return `one of ${param.choices.map(show).join(", ")}`;
  return { boolean: "true or false", number: "an integer from 0 to 2^53 - 1 here" }[typeof param.default] ?? "a word";
}

function named(known, name, what) {
  if (known.has(name)) return known.get(name);
  throw new Refused(`unknown ${what} ${show(name)}; known here: ${[...known.keys()].join(", ")}`);
}

function field(message, name, type) {
  if (!Object.hasOwn(message, name)) throw new Refused(`the request has no field ${show(name)}`);
  if (typeof message[name] === type) return message[name];
  throw new Refused(`${name} is ${show(message[name])}, not a ${type}`);
}

function integer(message, name) {
  const value = field(message, name, typeof message[name]);
  if (isInteger(value)) return value;
  throw new Refused(`${name} is ${show(value)}, not an integer from 0 to 2^53 - 1`);
}

function atLeastOne(message, name) {
  const value = integer(message, name);
  if (value === 0) throw new Refused(`${name} is 0; it must be at least 1`);
  return value;
}

function flag(name, value) {
  if (typeof value === "boolean") return value;
  throw new Refused(`parameter ${name} cannot be ${show(value)}; it is true or false`);
}

// JavaScript reads larger integers from JSON, but not exactly.
const isInteger = (value) => Number.isSafeInteger(value) && value >= 0;

export const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** `value` as JSON, shortened; nesting may be too deep for it. */
export function show(value) {
  try {
    const text = JSON.stringify(value) ?? "nothing";
    return text.length > 200 ? `${text.slice(0, 200)}...` : text;
  } catch {
    return "a value that is nested too deeply";
  }
}
