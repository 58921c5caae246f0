// The programs, the one that all languages share and nested lets of any depth, and the nodes of their trees.

import { BUILTINS } from "./values.mjs";

// `probes/interp/program.json`, which lies outside what is carried of this probe.
export const PROGRAM =
  '["let","range",["call","Int::range",[["int",1],["int",100]]],' +
  '["call","List::map",[["var","range"],["lambda",["i"],' +
  '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],' +
  '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],' +
  '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],' +
  '["call","Int::toString",[["var","i"]]]]]]]]]]';

export const LITERAL = 0;
export const VAR = 1;
export const LET = 2;
export const CALL = 3;
export const LAMBDA = 4;
export const IF = 5;
export const BIN = 6;

const KINDS = new Map(Object.entries({ int: LITERAL, str: LITERAL, var: VAR, let: LET, call: CALL, lambda: LAMBDA, if: IF, bin: BIN }));

/** A node of any kind: all have the same fields, since V8 reads those of a few shapes fast, and of many slowly. */
class Node {
  constructor(kind, name, parts, value, linked) {
    this.kind = kind;
    // Of a variable, a let or a function, or the names of a lambda's parameters.
    this.name = name;
    this.parts = parts;
    this.value = value;
    // What `async/cached` gives for a literal.
    this.completed = Promise.resolve(value);
    // The function, where it was looked up after parsing.
    this.linked = linked;
  }
}

/** Reads a program in JSON. With `linked` the tree holds the functions. */
export function parse(text, linked) {
  const made = ([sort, ...parts]) => {
    const kind = KINDS.get(sort);
    const node = (name, nodes) => new Node(kind, name, nodes.map(made), undefined, linked ? BUILTINS.get(name) : undefined);
    if (kind === undefined) throw new Error(`no node of a program: ${JSON.stringify(sort)}`);
    if (kind === LITERAL) return new Node(kind, undefined, [], parts[0], undefined);
    if (kind === IF) return node(undefined, parts);
    if (kind === CALL) return node(parts[0], parts[1]);
    return node(parts[0], parts.slice(1));
  };
  return made(JSON.parse(text));
}

/** `let x0 = 1 in let x1 = x0 in .. x_last`, made from the inside out. */
export function nested(depth) {
  const variable = (i) => new Node(VAR, `x${i}`, [], undefined, undefined);
  let body = variable(depth - 1);
  for (let i = depth - 1; i >= 0; i--) {
    const value = i > 0 ? variable(i - 1) : new Node(LITERAL, undefined, [], 1, undefined);
    body = new Node(LET, `x${i}`, [value, body], undefined, undefined);
  }
  return body;
}

/** The right output of the program, by its definition. */
export function output() {
  const word = (i) => (i % 15 === 0 ? "fizzbuzz" : i % 5 === 0 ? "buzz" : i % 3 === 0 ? "fizz" : String(i));
  return JSON.stringify(Array.from({ length: 100 }, (_, i) => word(i + 1)));
}
