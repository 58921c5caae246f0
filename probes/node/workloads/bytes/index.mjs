// `bytes`: a file or a response of `size` bytes, read from its start to its end and summed up.
//
// | module | holds |
// |---|---|
// | look | the loops over bytes: how each is looked at |
// | fetch | how bytes come: whole, in chunks, or one by one |
// | source | the file and the server |

import { param, variant } from "../../sdk/index.mjs";
import * as fetches from "./fetch.mjs";
import { asked } from "./source.mjs";

const MIB = 2 ** 20;
/** A byte that is waited for takes some 0.2 us: seven seconds a pass. */
const MOST = 32 * MIB;

const [FILE, HTTP, BOTH] = [["file"], ["http"], ["file", "http"]];
const CHUNK = 65_536;

const HALVES = "fnv: its 64 bits in two halves, as a BigInt for each byte would be most of the cost";
const EACH = `a promise for each byte: up to ${MOST / MIB} MiB; ${HALVES}`;
const STREAM = `file: createReadStream; http: node:http; ${HALVES}`;
const WEB = `file: Readable.toWeb; http: fetch; ${HALVES}`;

/** Name, function of `fetch.mjs`, manner of `look.mjs`, sources, whether it reads into a buffer, and what else there is to say. */
export const VARIANTS = [
  ["readFile/for", "readFile", "byIndex", FILE, false, { note: `of node:fs/promises; ${HALVES}` }],
  ["readFile/for-of", "readFile", "forOf", FILE, false, { note: `of node:fs/promises; ${HALVES}` }],
  ["readFile/reduce", "readFile", "reduce", FILE, false, { note: `of node:fs/promises; ${HALVES}` }],
  ["readFileSync/for", "readFileSync", "byIndex", FILE, false, { note: HALVES }],
  ["readSync/for", "readSync", "byIndex", FILE, true, { note: HALVES }],
  ["readSync/none", "readSync", "none", FILE, true, { note: "the floor: what readSync/for has before it looks" }],
  ["FileHandle.read/for", "fileHandleRead", "byIndex", FILE, true, { note: HALVES }],
  ["FileHandle.read/async-generator", "eachByte", "forAwait", FILE, true, { maxSize: MOST, note: EACH }],
  ["Readable/data", "data", "byIndex", BOTH, true, { note: `a for loop for each event; ${STREAM}` }],
  ["Readable/for-await", "forAwait", "byIndex", BOTH, true, { note: `a for loop for each chunk; ${STREAM}` }],
  ["ReadableStream/getReader", "getReader", "byIndex", BOTH, true, { note: `a for loop for each chunk; ${WEB}` }],
  ["arrayBuffer/for", "arrayBuffer", "byIndex", HTTP, false, { note: `of fetch; ${HALVES}` }],
  ["arrayBuffer/none", "arrayBuffer", "none", HTTP, false, { note: "the floor: what arrayBuffer/for has before it looks" }],
];

/** The workload `bytes`. Answer of an iteration: the sum. */
export function declare() {
  const where = "the file in the folder TASKSCALE_BYTES, or the response of the server TASKSCALE_BYTES_URL";
  param("bytes", "source", "file", where, BOTH);
  const modes = "sum8: the sum of all bytes modulo 256; fnv: FNV-1a of 64 bits; none: bytes are fetched and not looked at";
  param("bytes", "mode", "sum8", modes, ["sum8", "fnv", "none"]);
  param("bytes", "chunk", CHUNK, "bytes of the buffer, of variants that read into one");
  for (const [name, fetch, manner, source, hasChunk, about] of VARIANTS) {
    const mode = manner === "none" ? ["none"] : ["sum8", "fnv"];
    const only = { source, mode, ...(!hasChunk && { chunk: [CHUNK] }) };
    variant("bytes", name, { createsTask: false, only, ...about }, (run) => perform(run, fetches[fetch], manner));
  }
}

/** Does all iterations inside the timed part. An instrumented run has loops that count. */
export async function perform(run, fetch, manner) {
  const { source, mode, chunk } = run.params;
  const { COUNTED, MANNERS, STATES } = await import(run.verify ? "./look.mjs?counts" : "./look.mjs");
  const from = asked(source, run.size);
  const [State, look] = [STATES[mode], MANNERS[manner][mode]];
  COUNTED.bytes = 0;
  const timing = await run.time(() => {
    const state = new State();
    const done = fetch(from, (bytes) => look(state, bytes), chunk);
    return done ? done.then(() => state.answer()) : state.answer();
  });
  if (run.verify) {
    const expected = run.size * run.iterations;
    if (COUNTED.bytes !== expected) throw new Error(`${COUNTED.bytes} bytes were consumed, ${expected} were asked for`);
    timing.extra.executed = COUNTED.bytes;
  }
  return timing;
}
