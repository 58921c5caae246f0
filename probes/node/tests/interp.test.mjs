// `interp`: its semantics in every encoding, what an instrumented run counts, and mistakes that it must show. What is right
// is written here a second time; the tool has it a third time, and judges by that. `node --test tests`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Count, fnv1a } from "../workloads/interp/count.mjs";
import * as counted from "../workloads/interp/encodings.mjs?counts";
import { VARIANTS } from "../workloads/interp/index.mjs";
import { difference } from "../workloads/interp/loop.mjs";
import { PROGRAM, output, parse } from "../workloads/interp/program.mjs";
import { listed } from "../workloads/interp/values.mjs";

const MAIN = fileURLToPath(new URL("../main.mjs", import.meta.url));
const RIGHT = { deepest: 8, order: "2153812598003189471", output: "5476290587449551085" };
const NAMES = VARIANTS.map(([name]) => name);

/** What that many requests count. */
function counts(requests, pause) {
  const each = { nodes: 1804, builtins: 603, applications: 100, extensions: 101, suspended: pause, consumed_twice: 0 };
  return { ...Object.fromEntries(Object.entries(each).map(([name, value]) => [name, requests * value])), ...RIGHT };
}

const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** The replies of a fresh probe to runs, each of 3 requests and 2 iterations. */
function replies(asked) {
  const line = ([variant, params]) =>
    `${JSON.stringify({ type: "run", id: 1, workload: "interp", variant, size: 3, iterations: 2, seed: 1, params })}\n`;
  const input = asked.map(line).join("");
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, "node"], { input, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout.trimEnd().split("\n").map((line) => untimed(JSON.parse(line)));
}

/** A reply without the times of what was set up, which differ. */
function untimed({ extra: { setup_wall_ns, setup_cpu_ns, ...extra } = {}, ...reply }) {
  return { ...reply, extra: Object.keys(extra).length > 0 ? extra : undefined };
}

test("the program and its output are those of all languages", () => {
  assert.equal(sha256(PROGRAM), "2afafbdc1160a3a282ac3d064f285c2ca6ef0fef6967814b02e194e22d6b9028");
  assert.equal(sha256(output()), "812dce4f4fa16015bfb38a37fc7b6f7b34bc7d243fd9f95c65e71252f017b764");
  const shared = new URL("../../interp/program.json", import.meta.url);
  // Taken out of the repository there is no other program to agree with.
  if (existsSync(shared)) assert.equal(PROGRAM, readFileSync(shared, "utf8").trimEnd());
});

test("every variant counts what is right, and a timed run counts nothing", () => {
  const asked = NAMES.flatMap((variant) =>
    [0, 6, 100].flatMap((pause) =>
      ["by_name", "prelinked"].flatMap((lookup) =>
        [true, false].map((verify) => [variant, { pause, lookup, verify }]),
      ),
    ),
  );
  replies(asked).forEach(({ answer, extra }, index) => {
    const [variant, { pause, verify }] = asked[index];
    assert.equal(answer, 6, variant);
    assert.deepEqual(extra, verify ? counts(6, pause) : undefined, JSON.stringify(asked[index]));
  });
});

test("requests are divided among workers", () => {
  const asked = NAMES.map((variant) => [variant, { workers: 2, pause: 6, verify: true }]);
  replies(asked).forEach(({ answer, extra: { worker_requests, worker_wall_ns, ...extra } }, index) => {
    assert.equal(answer, 6);
    assert.deepEqual([worker_requests, worker_wall_ns.length], [[4, 2], 2]);
    assert.ok(Math.min(...worker_wall_ns) > 0);
    assert.deepEqual(extra, counts(6, 6), asked[index][0]);
  });
  const [{ extra }] = replies([["sync", { workers: 5 }]]);
  assert.deepEqual(extra.worker_requests, [2, 2, 2, 0, 0]);
});

test("workers that stay for the next request tell what they did in that one", () => {
  const two = ["sync", { workers: 2 }];
  const asked = [two, two, two, ["sync", { workers: 2, verify: true }], ["async", { workers: 2 }], two, two];
  const [first, second, third, ...others] = replies(asked);
  for (const one of [first, second, third, ...others]) {
    assert.deepEqual([one.answer, one.extra.worker_requests], [6, [4, 2]]);
    // By the same clock, and inside the timed part.
    assert.ok(one.extra.worker_wall_ns.every((ns) => ns > 0 && ns <= one.wall_ns), JSON.stringify(one));
  }
  assert.deepEqual(others[0].extra.nodes, 6 * 1804);
});

test("nested lets are as deep as asked for", () => {
  const right = { nodes: 606, builtins: 0, applications: 0, extensions: 300, deepest: 51, suspended: 0, consumed_twice: 0 };
  for (const { extra } of replies(NAMES.map((variant) => [variant, { depth: 50, verify: true }]))) {
    assert.deepEqual(extra, { ...right, order: fnv1a("").toString(), output: fnv1a("1").toString() });
  }
});

test("other numbers of pauses and too many workers are refused", () => {
  const said = replies([["sync", { pause: 7 }], ["sync", { workers: 101 }]]).map(({ message }) => message);
  assert.deepEqual(said, ["pause is 7; give 0, 6 or 100", "workers is 101; give at most 100"]);
});

/** The output of a program in which every element of a list suspends, or what is said of it. */
async function evaluated(encoding, text) {
  const timed = await import("../workloads/interp/encodings.mjs");
  try {
    return JSON.stringify(await new timed[encoding](1).request(parse(text, false)));
  } catch (error) {
    return error.message.replace("a request's output is no value: ", "");
  }
}

const each = (body) => `["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],${body}]]]`;
const ones = each('["int",1]');
const SEMANTICS = [
  ['["bin","Int::%",["int",7],["int",0]]', "0"],
  ['["var","a"]', "no variable a"],
  ['["call","Int::none",[]]', "no function Int::none"],
  // The error of an argument is the call's, whether the function is there or not.
  ['["call","Int::none",[["var","a"]]]', "no variable a"],
  ['["if",["int",1],["int",2],["int",3]]', "a condition must be a boolean"],
  ['["lambda",["i"],["int",1]]', "a lambda"],
  // A binding alters no environment: the inner `a` is gone behind its body.
  ['["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]', "1"],
  // A lambda has the environment in which it was written.
  [
    '["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],' +
      '["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]',
    "[5,5]",
  ],
  [each('["var","i"]'), "[1,2,3]"],
  // The first error of a list is the map's.
  [each('["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]'), "no variable c"],
  [each(each('["bin","Int::%",["var","i"],["int",2]]')), "[[1,0,1],[1,0,1],[1,0,1]]"],
  ['["bin","Int::%",["var","a"],["int",1]]', "no variable a"],
  ['["bin","Int::%",["int",1],["var","a"]]', "no variable a"],
  // What suspends may stand in every place.
  [`["let","a",${ones},["var","a"]]`, "[1,1,1]"],
  [`["let","a",${ones},${each('["var","a"]')}]`, "[[1,1,1],[1,1,1],[1,1,1]]"],
  [`["call","List::map",[${ones},["lambda",["i"],["int",2]]]]`, "[2,2,2]"],
  [`["bin","Int::%",${ones},["int",2]]`, "Int::% needs two integers"],
  [`["bin","Int::%",["int",2],${ones}]`, "Int::% needs two integers"],
  [`["if",${ones},["int",1],["int",2]]`, "a condition must be a boolean"],
];

test("semantics are the same in every encoding", async () => {
  for (const [, encoding] of VARIANTS) {
    for (const [text, right] of SEMANTICS) assert.equal(await evaluated(encoding, text), right, `${encoding} ${text}`);
  }
});

/** In what the counts of an encoding differ from the right ones. Its output is right, which is why that is not enough. */
async function differing(Encoding) {
  const count = new Count();
  const result = await new Encoding(15, count).request(parse(PROGRAM, false));
  count.answered(JSON.stringify(result));
  assert.equal(JSON.stringify(result), output());
  const right = counts(1, 6);
  return Object.fromEntries(Object.entries(count.report()).filter(([name, value]) => value !== right[name]));
}

test("no mistake is none", async () => {
  for (const [, encoding] of VARIANTS) assert.deepEqual(await differing(counted[encoding]), {}, encoding);
});

test("two elements at a time are seen in the order", async () => {
  class TwoAtATime extends counted.SyncCaller {
    async map([list, closure]) {
      const results = [];
      for (let i = 0; i < list.length; i += 2) {
        results.push(...(await Promise.all([this.apply(closure, list[i]), this.apply(closure, list[i + 1])])));
      }
      return listed(results);
    }
  }
  assert.ok("order" in (await differing(TwoAtATime)));
});

test("a swallowed pending value is seen", async () => {
  class Swallowed extends counted.Union {
    map([list, closure]) {
      return listed(
        list.map((element) => {
          const result = this.apply(closure, element);
          return typeof result.then === "function" ? this.body(closure, element) : result;
        }),
      );
    }
  }
  const differ = await differing(Swallowed);
  assert.deepEqual([differ.suspended, differ.consumed_twice], [0, 6]);
  assert.ok("order" in differ);
});

test("a result that is used twice is seen", async () => {
  class UsedTwice extends counted.Async {
    async map([list, closure]) {
      const results = [];
      for (const element of list) {
        const result = this.apply(closure, element);
        results.push(await result);
        if (element === 30) await result;
      }
      return listed(results);
    }
  }
  assert.deepEqual(await differing(UsedTwice), { consumed_twice: 1 });
});

test("a wrong output says where", () => {
  const said = `a request's output differs from byte 3 on: "2,3]", right is "3]" (7 bytes, right are 5)`;
  assert.equal(difference("[1,2,3]", "[1,3]"), said);
});
