// `interp` over HTTP: what a server says to the tool, and what it answers. `node --test tests`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { VARIANTS } from "../workloads/interp/index.mjs";
import { Loop } from "../workloads/interp/loop.mjs";
import { output } from "../workloads/interp/program.mjs";

const MAIN = fileURLToPath(new URL("../main.mjs", import.meta.url));

async function session(talk) {
  const probe = spawn(process.execPath, [MAIN, "node"], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: probe.stdout })[Symbol.asyncIterator]();
  try {
    await talk(async (message) => {
      probe.stdin.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`);
      return JSON.parse((await lines.next()).value);
    });
  } finally {
    probe.stdin.end();
  }
  assert.deepEqual(await once(probe, "exit"), [0, null]);
}

const request = (variant, params) => ({ type: "run", id: 5, workload: "interp", variant, size: 3, iterations: 1, seed: 1, params });

test("a server answers the right bytes and counts them since begin", () =>
  session(async (ask) => {
    for (const name of [...VARIANTS.map(([name]) => name), "constant"]) {
      for (const verify of [false, true]) {
        const serving = await ask(request(name, { mode: "http-closed", pause: 6, verify }));
        assert.equal(serving.type, "serving", name);
        assert.equal(serving.server, `node:http ${process.versions.node}`);
        const get = async () => {
          const response = await fetch(`http://127.0.0.1:${serving.port}/`);
          assert.deepEqual([response.status, response.headers.get("content-length")], [200, "614"], name);
          assert.equal(await response.text(), output());
        };
        if (!verify) await get();
        assert.deepEqual(await ask({ type: "begin", id: 5 }), { type: "began", id: 5 });
        for (let i = 0; i < 3; i++) await get();
        for (const line of ["hello", "[]", { type: "describe", protocol: 1 }]) {
          assert.equal((await ask(line)).message, "a server is running: say begin or stop");
        }
        const { type, id, answer, cpu_ns, wall_ns, extra } = await ask({ type: "stop", id: 5 });
        assert.deepEqual([type, id, answer], ["sample", 5, 3], name);
        assert.ok(cpu_ns > 0 && wall_ns > 0, name);
        assert.equal(extra?.suspended, verify && name !== "constant" ? 18 : undefined, name);
      }
    }
    // The next request is one like any other.
    assert.equal((await ask(request("sync", {}))).answer, 3);
  }));

test("a wrong output is told by whoever made the request", async () => {
  for (const encoding of ["Sync", "Async"]) {
    const asked = { encoding, verify: false, lookup: "by_name", depth: 0, every: 0, requests: 1 };
    const loop = await Loop.made(asked);
    assert.equal(await loop.answer(), undefined);
    loop.right = "[]";
    assert.match(await loop.answer(), /differs from byte 1 on/);
    assert.equal(loop.wrong, undefined);
  }
});
