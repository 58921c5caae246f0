// What an instrumented run counts.

export class Count {
  nodes = 0;
  builtins = 0;
  applications = 0;
  extensions = 0;
  deepest = 0;
  pauses = 0;
  order = 0n;
  output = 0n;
  #live = 0;
  // Results that can be used once: how many there were, and how many uses.
  #made = 0;
  #taken = 0;
  #again = 0;
  #log = "";

  entered() {
    this.nodes++;
    this.deepest = Math.max(this.deepest, ++this.#live);
  }

  left() {
    this.#live--;
  }

  called() {
    this.builtins++;
  }

  extended() {
    this.extensions++;
  }

  begins(element) {
    this.applications++;
    this.#log += `B ${element}\n`;
  }

  hasValue(element) {
    this.#log += `E ${element}\n`;
  }

  suspended() {
    this.pauses++;
  }

  /** A promise that counts its uses, and calls `end` when it is there. */
  once(promise, end) {
    this.#made++;
    const there = promise.then((value) => {
      end();
      return value;
    });
    let used = false;
    return {
      then: (resolve, reject) => {
        if (used) this.#again++;
        else this.#taken++;
        used = true;
        return there.then(resolve, reject);
      },
    };
  }

  /** A request gave that output. */
  answered(output) {
    this.output = fnv1a(output);
    this.order = fnv1a(this.#log);
    this.#log = "";
  }

  /** What goes into `extra`. Numbers of 64 bits are strings of digits. */
  report() {
    return {
      nodes: this.nodes,
      builtins: this.builtins,
      applications: this.applications,
      extensions: this.extensions,
      deepest: this.deepest,
      suspended: this.pauses,
      consumed_twice: this.#made - this.#taken + this.#again,
      order: this.order.toString(),
      output: this.output.toString(),
    };
  }
}

/** The reports of several workers as one. The last request is one of the last worker that had any. */
export function together(reports) {
  const [sum, ...others] = reports.filter(({ nodes }) => nodes > 0);
  for (const other of others) {
    for (const name of Object.keys(sum)) {
      if (name === "deepest") sum.deepest = Math.max(sum.deepest, other.deepest);
      else if (typeof sum[name] === "number") sum[name] += other[name];
      else sum[name] = other[name];
    }
  }
  return sum;
}

/** FNV-1a with 64 bits of a text in ASCII. */
export function fnv1a(text) {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  }
  return hash;
}
