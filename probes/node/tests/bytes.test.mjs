// `bytes`: every variant against the published sums, on lengths around a buffer's, and on bytes that come in drips.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { Run } from "../sdk/request.mjs";
import * as fetches from "../workloads/bytes/fetch.mjs";
import { VARIANTS, perform } from "../workloads/bytes/index.mjs";
import { MANNERS, STATES } from "../workloads/bytes/look.mjs";
import { FileSource, HttpSource } from "../workloads/bytes/source.mjs";

const MAIN = fileURLToPath(new URL("../main.mjs", import.meta.url));
const CHUNK = 65_536;
const wrap = (value) => BigInt.asUintN(64, value);

/** Length, sum8, FNV-1a and the start of the SHA-256, as published with the generator. */
const TRUTHS = [
  [8, 221, 0xfc3775c20640340cn, "09d257170e76614b"],
  [65_536, 214, 0x361ce99ee50d834fn, "21acd40c18c329e1"],
  [1_048_576, 38, 0xe5d2ee95ab2a6e4bn, "80c44bce2a8a3a5d"],
];

/** The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42. */
function content(length) {
  const rotl = (x, k) => wrap(x << k) | (x >> (64n - k));
  const s = [0n, 1n, 2n, 3n].map((j) => {
    let z = wrap(42n + (j + 1n) * 0x9e3779b97f4a7c15n);
    z = wrap((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = wrap((z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return z ^ (z >> 31n);
  });
  const made = Buffer.alloc(Math.ceil(length / 8) * 8);
  for (let at = 0; at < length; at += 8) {
    made.writeBigUInt64LE(wrap(rotl(wrap(s[1] * 5n), 7n) * 9n), at);
    const t = wrap(s[1] << 17n);
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotl(s[3], 45n);
  }
  return made.subarray(0, length);
}

/** The right answers, computed in another way: with BigInt. */
function sums(data) {
  let sum = 0;
  let hash = 14695981039346656037n;
  for (const byte of data) {
    sum += byte;
    hash = wrap((hash ^ BigInt(byte)) * 1099511628211n);
  }
  return { sum8: sum % 256, fnv: hash, none: data.length };
}

const folder = mkdtempSync(join(tmpdir(), "bytes-"));
after(() => rmSync(folder, { recursive: true }));

function write(data) {
  const path = join(folder, `${data.length}.bytes`);
  writeFileSync(path, data);
  return path;
}

/** Serves the folder while `use` runs; so many bytes at a time. A path `/short` ends a byte too early. */
async function served(drip, use) {
  const server = createServer(async (request, response) => {
    if (request.url === "/short") {
      response.writeHead(200, { "content-length": 100 });
      response.write(Buffer.alloc(99));
      return setTimeout(() => response.destroy(), 20);
    }
    const data = await readFile(join(folder, request.url)).catch(() => null);
    if (!data) return response.writeHead(404).end();
    response.writeHead(200, { "content-length": data.length });
    for (let at = 0; at < data.length; at += drip) {
      response.write(data.subarray(at, at + drip));
      await new Promise(setImmediate);
    }
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Every variant in each of its modes and sources. */
const CASES = VARIANTS.flatMap(([name, fetch, manner, sources]) =>
  sources.flatMap((source) =>
    (manner === "none" ? ["none"] : ["sum8", "fnv"]).map((mode) => ({ name, fetch, manner, source, mode })),
  ),
);

/** One pass, outside the probe. */
async function pass({ fetch, manner, mode }, from) {
  const state = new STATES[mode]();
  await fetches[fetch](from, (bytes) => MANNERS[manner][mode](state, bytes), CHUNK);
  return state.answer();
}

test("the content and its sums are the published ones", () => {
  for (const [length, sum8, fnv, sha] of TRUTHS) {
    const data = content(length);
    assert.equal(createHash("sha256").update(data).digest("hex").slice(0, 16), sha);
    assert.deepEqual(sums(data), { sum8, fnv, none: length });
  }
});

test("every variant gives the published sums and counts each byte", async () => {
  for (const [length] of TRUTHS) write(content(length));
  await served(2 ** 30, async (url) => {
    const env = { ...process.env, TASKSCALE_BYTES: folder, TASKSCALE_BYTES_URL: url };
    const probe = spawn(process.execPath, [MAIN, "node"], { env, stdio: "pipe" });
    const asked = CASES.flatMap(({ name, source, mode }) =>
      TRUTHS.flatMap(([size, sum8, fnv]) =>
        [false, true].map((verify) => {
          const right = wrap(2n * BigInt({ sum8, fnv, none: size }[mode]));
          const params = { source, mode, verify };
          const line = { type: "run", id: 7, workload: "bytes", variant: name, size, iterations: 2, seed: 1, params };
          return { right, size, line };
        }),
      ),
    );
    for (const { line } of asked) probe.stdin.write(`${JSON.stringify(line)}\n`);
    probe.stdin.end();
    const said = { stdout: "", stderr: "" };
    for (const pipe of ["stdout", "stderr"]) probe[pipe].on("data", (text) => (said[pipe] += text));
    await new Promise((resolve) => probe.on("close", resolve));
    assert.equal(said.stderr, "");
    const replies = said.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assert.equal(replies.length, asked.length);
    replies.forEach((reply, index) => {
      const { right, size, line } = asked[index];
      const text = `${JSON.stringify(line)}: ${JSON.stringify(reply)}`;
      assert.equal(reply.type, "sample", text);
      assert.equal(BigInt(reply.answer), right, text);
      const { setup_wall_ns, setup_cpu_ns, ...extra } = reply.extra ?? {};
      assert.deepEqual(extra, line.params.verify ? { executed: 2 * size } : {}, text);
    });
  });
});

test("lengths around a buffer", async () => {
  await served(2 ** 30, async (url) => {
    for (const length of [0, 1, CHUNK - 1, CHUNK + 1]) {
      const data = content(length);
      const [path, right] = [write(data), sums(data)];
      for (const one of CASES) {
        const from = one.source === "file" ? new FileSource(path) : new HttpSource(`${url}/${basename(path)}`);
        assert.equal(await pass(one, from), right[one.mode], `${JSON.stringify(one)} ${length}`);
      }
    }
  });
});

test("reads that give less than was asked for", async () => {
  const data = content(CHUNK + 1);
  write(data);
  const right = sums(data);
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const drip = `const fs = require("fs");
    const data = fs.readFileSync(process.argv[1]);
    const out = fs.openSync(process.argv[2], "w");
    for (let at = 0; at < data.length; at += 5000) fs.writeSync(out, data.subarray(at, at + 5000));`;
  await served(5000, async (url) => {
    for (const one of CASES) {
      if (one.source === "http") {
        const got = await pass(one, new HttpSource(`${url}/${data.length}.bytes`));
        assert.equal(got, right[one.mode], JSON.stringify(one));
        continue;
      }
      // In another process, since this one may block in reading.
      const writer = spawn(process.execPath, ["-e", drip, join(folder, `${data.length}.bytes`), pipe]);
      const ended = new Promise((resolve) => writer.on("close", resolve));
      assert.equal(await pass(one, new FileSource(pipe)), right[one.mode], JSON.stringify(one));
      assert.equal(await ended, 0);
    }
  });
});

test("two swapped bytes are another fnv", async () => {
  const data = content(CHUNK);
  const right = sums(data);
  [data[9], data[10]] = [data[10], data[9]];
  assert.notEqual(data[9], data[10]);
  const path = write(data);
  for (const one of CASES.filter(({ source }) => source === "file")) {
    const got = await pass(one, new FileSource(path));
    assert.equal(got === right[one.mode], one.mode !== "fnv", JSON.stringify(one));
  }
  write(content(CHUNK));
});

test("a response that ends too early, or is none, is an error", async () => {
  await served(2 ** 30, async (url) => {
    for (const one of CASES.filter(({ source, mode }) => source === "http" && mode !== "fnv")) {
      await assert.rejects(pass(one, new HttpSource(`${url}/short`)), JSON.stringify(one));
      await assert.rejects(pass(one, new HttpSource(`${url}/none`)), /\/none answered 404/, JSON.stringify(one));
    }
  });
});

test("a byte that was not looked at is found", async () => {
  write(content(8));
  const run = new Run({ id: 1, size: 8, iterations: 3, seed: 1, params: { verify: true, source: "file", mode: "sum8" } });
  const half = async ({ path }, look) => {
    const file = await open(path);
    look((await file.read(Buffer.alloc(4), 0, 4)).buffer);
    await file.close();
  };
  process.env.TASKSCALE_BYTES = folder;
  await assert.rejects(perform(run, half, "byIndex"), /12 bytes were consumed, 24 were asked for/);
});

test("what is not in the environment is named", async () => {
  delete process.env.TASKSCALE_BYTES;
  delete process.env.TASKSCALE_BYTES_URL;
  for (const [source, name] of [["file", "TASKSCALE_BYTES"], ["http", "TASKSCALE_BYTES_URL"]]) {
    const run = new Run({ id: 1, size: 8, iterations: 1, seed: 1, params: { source, mode: "sum8" } });
    await assert.rejects(perform(run, fetches.data, "byIndex"), new RegExp(`^Error: ${name} is not set: .* 8.bytes is`));
  }
});
