// A loop over requests, in the thread that imports it.

import { Count } from "./count.mjs";
import { PROGRAM, nested, output, parse } from "./program.mjs";

// Read once for each way of looking functions up.
const shared = new Map();

/** An evaluator, its program, and its loop, which counts where `verify` is asked for. */
export class Loop {
  static async made({ encoding, verify, lookup, depth, every, requests }) {
    const loop = new Loop();
    loop.count = verify ? new Count() : undefined;
    const encodings = await import(verify ? "./encodings.mjs?counts" : "./encodings.mjs");
    loop.evaluator = new encodings[encoding](every, loop.count);
    const key = lookup === "prelinked";
    if (!shared.has(key)) shared.set(key, parse(PROGRAM, key));
    loop.root = depth > 0 ? nested(depth) : shared.get(key);
    loop.right = depth > 0 ? "1" : output();
    loop.requests = requests;
    loop.plain = encoding === "Sync";
    loop.wrong = undefined;
    return loop;
  }

  /** Answers all requests. Returns how many outputs were right, or a promise of it. */
  run() {
    return this.plain ? this.runPlain() : this.runAsync();
  }

  runPlain() {
    let right = 0;
    for (let i = 0; i < this.requests; i++) right += this.judged(this.evaluator.request(this.root));
    return right;
  }

  async runAsync() {
    let right = 0;
    for (let i = 0; i < this.requests; i++) right += this.judged(await this.evaluator.request(this.root));
    return right;
  }

  /** Makes one request. Returns what is wrong with its output, or a promise of it. */
  answer() {
    const result = this.evaluator.request(this.root);
    if (this.plain || typeof result?.then !== "function") return this.differs(result);
    return result.then((result) => this.differs(result));
  }

  /** Writes a result and compares it. Returns 1 if it is right. */
  judged(result) {
    const wrong = this.differs(result);
    if (wrong === undefined) return 1;
    this.wrong ??= wrong;
    return 0;
  }

  differs(result) {
    const written = JSON.stringify(result);
    this.count?.answered(written);
    return written === this.right ? undefined : difference(written, this.right);
  }
}

/** Where an output first differs from the right one. */
export function difference(got, right) {
  let at = 0;
  while (at < Math.min(got.length, right.length) && got[at] === right[at]) at++;
  const part = (text) => JSON.stringify(text.slice(at, at + 40));
  const sizes = `(${got.length} bytes, right are ${right.length})`;
  return `a request's output differs from byte ${at} on: ${part(got)}, right is ${part(right)} ${sizes}`;
}
