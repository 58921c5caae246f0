// The kernel against its published values and a second writing of it, and the probe as the tool sees it: a process with
// pipes. `node --test tests`.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { getHeapSpaceStatistics } from "node:v8";

import { Run } from "../sdk/request.mjs";
import { each, perform as cancel } from "../workloads/cancel.mjs";
import { onEvent, perform } from "../workloads/parked.mjs";
import { spin } from "../workloads/spin.mjs";

const MAIN = fileURLToPath(new URL("../main.mjs", import.meta.url));
const wrap = (value) => BigInt.asUintN(64, value);

/** The kernel, written a second time. */
function kernel(seed, steps) {
  let z = wrap(seed + 0x9e3779b97f4a7c15n);
  z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  let x = z ^ (z >> 31n);
  for (let step = 0; step < steps; step++) {
    x ^= wrap(x << 13n);
    x ^= x >> 7n;
    x ^= wrap(x << 17n);
  }
  return x;
}

/** The replies of a fresh probe to all `messages`. */
function replies(...messages) {
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, "node"], { input, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

const SEED = Number.MAX_SAFE_INTEGER;
const run = (variant, params, workload = "fanout") => {
  return { type: "run", id: 7, workload, variant, size: 9, iterations: 2, seed: SEED, params };
};

test("what is set up untimed is made anew for each iteration and told beside the times", async () => {
  const made = [10, 20, 30];
  const one = new Run({ iterations: 3, seed: 1, params: {} });
  const spend = (ms) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  const setup = () => {
    spend(3);
    return made.shift();
  };
  let ended = 0;
  const sample = await one.timeEach(setup, async (_phases, work) => work, async (work) => (ended += work));
  assert.equal(ended, 60);
  assert.equal(sample.answer, 60);
  assert.ok(sample.extra.setup_wall_ns >= 9e6, JSON.stringify(sample));
  assert.ok(sample.extra.setup_cpu_ns > 0 && sample.cpu_ns > 0, JSON.stringify(sample));
  const [drained, fanned] = replies(run("Promise.all", {}, "drain"), run("Promise.all", {}));
  assert.ok(drained.extra.setup_wall_ns > 0 && drained.answer === 18, JSON.stringify(drained));
  assert.ok(fanned.extra.setup_wall_ns > 0, "the young heap is filled before");
});

test("splitmix is the published generator", () => {
  // First output of splitmix64 with seed 1234567, from its author's reference program.
  assert.equal(spin(1234567, 0, 0), 6457827717110365317n);
});

test("the halves make the whole kernel, beyond the seeds that are exact", () => {
  for (const seed of [0, 1, 2 ** 32 - 1, 2 ** 32, SEED]) {
    for (const i of [0, 1, 1_000_000]) {
      for (const steps of [0, 1, 2, 1000]) {
        assert.equal(spin(seed, i, steps), kernel(BigInt(seed) + BigInt(i), steps), `${seed} + ${i}, ${steps} steps`);
      }
    }
  }
});

test("every variant gives the right answer, timed and counted, in every order", () => {
  const [description] = replies({ type: "describe", protocol: 1 });
  assert.equal(description.jit, true);
  const asked = description.workloads[0].variants.flatMap(({ name, only }) =>
    only.order.flatMap((order) =>
      [0, 3].flatMap((work) =>
        [0, 4].flatMap((window) => [false, true].map((verify) => run(name, { order, work, window, verify }))),
      ),
    ),
  );
  const spun = Array.from({ length: 9 }, (_, i) => kernel(BigInt(SEED) + BigInt(i), 3)).reduce((a, b) => a + b);
  replies(...asked).forEach((reply, index) => {
    const { order, work, window, verify } = asked[index].params;
    const said = `${asked[index].variant} ${JSON.stringify(asked[index].params)}: ${JSON.stringify(reply)}`;
    const sum = work === 0 ? 2n * 31n * 36n : wrap(2n * spun);
    assert.equal(reply.type, "sample", said);
    assert.equal(BigInt(reply.answer), order === "discard" && !verify ? 18n : sum, said);
    if (!verify) return;
    assert.equal(reply.extra.executed, 18, said);
    assert.equal(reply.extra.workers_seen, 1, said);
    assert.ok(reply.extra.max_live >= 1 && reply.extra.max_live <= (window || 9), said);
  });
});

test("a task that waits is alive with the others, one that does not is done at the call", () => {
  const live = (variant) => replies(run(variant, { verify: true }))[0].extra.max_live;
  assert.deepEqual(["Promise.all", "Promise.all/suspend", "setImmediate"].map(live), [1, 9, 9]);
});

test("what cannot be done is refused, and the probe lives on", () => {
  const refused = [
    { type: "fly" },
    {},
    [],
    null,
    run("Promise.any"),
    run("Promise.all", {}, "lunch"),
    { type: "describe", protocol: 2 },
  ];
  const said = replies(...refused, run("Promise.all"));
  assert.deepEqual(said.map(({ type }) => type), [...refused.map(() => "error"), "sample"]);
  assert.match(said[0].message, /^unknown request type "fly"; known here: describe run exit$/);
  assert.match(said[4].message, /^unknown variant "Promise.any"; known here: await_each /);
  assert.match(said[5].message, /^unknown workload "lunch"; known here: fanout /);
  assert.match(said[6].message, /protocol 2.*protocol 1/);
});

test("a sample begins anywhere in a cycle of the young heap, by its seed", async () => {
  const young = () => getHeapSpaceStatistics().find((space) => space.space_name === "new_space");
  const used = [];
  for (let seed = 1; seed <= 20; seed++) {
    const once = new Run({ id: 1, size: 1, iterations: 1, seed, params: {} });
    await once.time(() => used.push(young().space_used_size));
  }
  const { space_used_size, space_available_size } = young();
  const cycle = space_used_size + space_available_size;
  // Twenty seeds without it would be some KB apart.
  assert.ok(Math.max(...used) - Math.min(...used) > cycle / 2, `${used} of ${cycle}`);
});

const LARGE = ["--expose-gc", "--min-semi-space-size=64", "--max-semi-space-size=64"];
// By this seed 98 % of a young heap is filled before a sample, where it is.
const nop = (variant, size, params = {}) => ({ ...run(variant, params, "nop"), size, seed: 21 });

test("a young heap that does not fill is not collected, and one that fills fails the request", () => {
  const asked = ["Promise.all/suspend", "await_each", "setImmediate"].flatMap((variant) =>
    [{}, { verify: true }, { live: 100 }].map((params) => nop(variant, 10_000, params)),
  );
  const full = nop("Promise.all/suspend", 500_000);
  const all = asked.concat(full, asked[0]).map((message) => `${JSON.stringify(message)}\n`).join("");
  const args = [...LARGE, MAIN, "node+large-semi-space"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { input: all, encoding: "utf8" });
  assert.equal(stderr, "");
  const said = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const failed = said.splice(asked.length, 1)[0];
  for (const [at, reply] of said.entries()) {
    assert.equal(reply.type, "sample", `${at}: ${JSON.stringify(reply)}`);
    assert.deepEqual(reply.extra.gc_collections, [0]);
    assert.equal(reply.answer, 20_000);
  }
  const words = /^the collector ran all the same \(collections: \d+\): the young heap of \d+ MB ran out \(500000 tasks, 2 times\)/;
  assert.match(failed.message, words);
});

test("a runtime without the collector has nop alone, and says which flag it needs", () => {
  const input = [{ type: "describe", protocol: 1 }, nop("await_each", 9)].map((one) => `${JSON.stringify(one)}\n`).join("");
  const { stdout } = spawnSync(process.execPath, [MAIN, "node+large-semi-space"], { input, encoding: "utf8" });
  const [description, refused] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(description.workloads.map((one) => one.name), ["nop"]);
  assert.match(refused.message, /start Node with --expose-gc/);
});

test("rough bytes are those of memory within a few percent, and grow with the request", () => {
  const asked = (counters, iterations) => ({ ...run("Promise.all", { counters }), size: 1_000, iterations });
  const count = (counters) => {
    const [, , short, long] = replies(
      ...[40, 40, 20, 40].map((iterations) => asked(counters, iterations)),
    ).map((sample) => sample.extra.counters);
    return long.bytes - short.bytes;
  };
  const [exact, rough] = [count("memory"), count("rough_bytes")];
  // The code is compiled meanwhile, which changes what it allocates: 1 % is that of one process.
  assert.ok(exact > 1_000_000 && rough / exact > 0.9 && rough / exact < 1.1, `${rough} for ${exact}`);
});

test("all that park wait at once, are resumed, and tell the memory where asked", () => {
  for (const on of ["event", "timer"]) {
    for (const resident of [false, true]) {
      const [reply] = replies(run("Promise.all", { on, resident, verify: true }, "parked"));
      assert.deepEqual([reply.answer, reply.extra.waiting], [18, 9], JSON.stringify(reply));
      assert.equal("resident_waiting" in reply.extra, resident);
    }
  }
});

test("every call of blocking blocks, and waits are told", () => {
  for (const variant of ["without", "inline", "worker_threads", "setTimeout"]) {
    const [reply] = replies(run(variant, { block_us: 2000, every: 4 }, "blocking"));
    const said = `${variant}: ${JSON.stringify(reply)}`;
    const blocks = variant !== "without";
    assert.deepEqual([reply.answer, reply.extra.blocked], [18, blocks ? 6 : 0], said);
    const { wait_p50_ns: p50, wait_p99_ns: p99, wait_max_ns: max } = reply.extra;
    assert.ok(p50 > 0 && p50 <= p99 && p99 <= max, said);
    // Each iteration lasts at least as long as one call. The loop's timer may be early by less than a millisecond.
    assert.ok(!blocks || reply.wall_ns >= 2 * 1e6, said);
  }
});

test("any number of worker threads does every task once", () => {
  for (const workers of [1, 2, 5]) {
    for (const work of [0, 30]) {
      const [reply] = replies(run("worker_threads", { workers, work, verify: true }, "scale"));
      let right = 0n;
      for (let i = 0n; i < 9n; i++) right += work > 0 ? kernel(BigInt(SEED) + i, work) : 31n * i;
      assert.equal(BigInt(reply.answer), wrap(2n * right), JSON.stringify(reply));
      assert.equal(reply.extra.executed, 18);
      assert.ok(reply.extra.workers_seen <= workers, JSON.stringify(reply));
    }
  }
  for (const workers of [0, 101]) {
    const [{ message }] = replies(run("worker_threads", { workers }, "scale"));
    assert.equal(message, `workers is ${workers}; give 1 to 100`);
  }
});

test("memory grows with the functions that wait", () => {
  const asked = { ...run("Promise.all", { resident: true }, "parked"), size: 100_000, iterations: 1 };
  const [{ extra }] = replies(asked);
  // A promise and a suspended function have more than 100 bytes.
  assert.ok(extra.resident_waiting - extra.resident_before > 100_000 * 100, JSON.stringify(extra));
});

test("a function that does not wait is found", async () => {
  const params = { resident: false };
  const asked = new Run({ id: 1, size: 9, iterations: 1, seed: 1, params });
  const early = (state) => {
    const wake = onEvent(state);
    state.resumed++;
    return wake;
  };
  await assert.rejects(perform(asked, early), /9 of 9 functions waited, and 1 went on before they were woken/);
});

test("all that wait are aborted by every form", () => {
  for (const on of ["event", "timer"]) {
    const forms = [["AbortSignal/shared", "oldest"], ["AbortController/each", "oldest"], ["AbortController/each", "newest"]];
    if (AbortSignal.any) forms.push(["AbortSignal.any", "oldest"]);
    for (const [variant, first] of forms) {
      const [reply] = replies(run(variant, { on, first }, "cancel"));
      assert.equal(reply.answer, 18, `${variant} ${on}: ${JSON.stringify(reply)}`);
      assert.ok(reply.extra.setup_wall_ns > 0, JSON.stringify(reply));
    }
  }
});

test("a function that was aborted too early is found", async () => {
  const asked = new Run({ id: 1, size: 9, iterations: 1, seed: 1, params: { on: "event", first: "oldest" } });
  const early = (size, newest) => {
    const { signals, abort } = each(size, newest);
    abort();
    return { signals, abort };
  };
  await assert.rejects(cancel(asked, early), /9 of 9 functions waited, and 9 were aborted before/);
});

test("each function has its own values", () => {
  for (const variant of ["AsyncLocalStorage", "AsyncLocalStorage/setImmediate"]) {
    for (const variables of [0, 1, 8]) {
      const [reply] = replies(run(variant, { variables }, "context"));
      assert.equal(reply.answer, 18, `${variant}, ${variables}: ${JSON.stringify(reply)}`);
    }
    const [refused] = replies(run(variant, { variables: 3 }, "context"));
    assert.match(refused.message, /variables is 3; give 0, 1 or 8/);
  }
});

test("every message of every producer is handled", () => {
  for (const variant of ["worker/postMessage", "MessageChannel/local"]) {
    // 9 messages do not divide evenly by 4; of 16 producers some have none. Workers are kept, and others made.
    const asked = [4, 4, 16, 1].map((producers) => run(variant, { producers }, "remote"));
    for (const reply of replies(...asked)) assert.equal(reply.answer, 18, `${variant}: ${JSON.stringify(reply)}`);
    const [refused] = replies(run(variant, { producers: 65 }, "remote"));
    assert.match(refused.message, /producers is 65; give 1 to 64/);
  }
});

test("every task arrives at its time", () => {
  for (const variant of ["setTimeout", "timers/promises", "outside/postMessage"]) {
    for (const [rate, size] of [[1000, 20], [100, 20], [10, 100]]) {
      const [reply] = replies({ ...run(variant, { rate }, "idle"), size });
      assert.equal(reply.answer, 2 * size, `${variant}, ${rate}: ${JSON.stringify(reply)}`);
      assert.ok(reply.wall_ns >= 2e6 * size, `${variant}, ${rate}: ${JSON.stringify(reply)}`);
    }
    const [another, odd] = replies(run(variant, { rate: 50 }, "idle"), run(variant, { rate: 100 }, "idle"));
    assert.match(another.message, /rate is 50; give 1, 10, 100 or 1000/);
    assert.match(odd.message, /in 9 ms no whole number of tasks arrives at 100 a second/);
  }
});

test("every token comes back", () => {
  for (const variant of ["promise", "events.once", "MessageChannel", "worker/MessageChannel"]) {
    // 9 trips do not divide evenly by 4; of 20 pairs some have none.
    for (const pairs of [1, 4, 20]) {
      const [reply] = replies(run(variant, { pairs }, "pingpong"));
      assert.equal(reply.answer, 18, `${variant}, ${pairs}: ${JSON.stringify(reply)}`);
    }
  }
});
