// How bytes come. A function opens the source, hands what comes to `look`, and closes the source; where it waits it returns
// a promise.

import { closeSync, openSync, readFileSync as wholeSync, readSync as partSync } from "node:fs";
import { open, readFile as whole } from "node:fs/promises";

export async function readFile({ path }, look) {
  look(await whole(path));
}

export function readFileSync({ path }, look) {
  look(wholeSync(path));
}

export function readSync({ path }, look, chunk) {
  const buffer = new Uint8Array(chunk);
  const file = openSync(path);
  try {
    for (let read; (read = partSync(file, buffer, 0, chunk, null)) > 0; ) look(buffer.subarray(0, read));
  } finally {
    closeSync(file);
  }
}

export async function fileHandleRead({ path }, look, chunk) {
  const buffer = new Uint8Array(chunk);
  const file = await open(path);
  try {
    for (let read; (read = (await file.read(buffer, 0, chunk, null)).bytesRead) > 0; ) look(buffer.subarray(0, read));
  } finally {
    await file.close();
  }
}

/** `look` awaits each byte. */
export async function eachByte({ path }, look, chunk) {
  const buffer = new Uint8Array(chunk);
  const file = await open(path);
  async function* bytes() {
    for (let read; (read = (await file.read(buffer, 0, chunk, null)).bytesRead) > 0; ) {
      for (let i = 0; i < read; i++) yield buffer[i];
    }
  }
  try {
    await look(bytes());
  } finally {
    await file.close();
  }
}

/** A stream of Node's, by its events. It is over when it is closed. */
export async function data(source, look, chunk) {
  const stream = await source.readable(chunk);
  await new Promise((resolve, reject) => stream.on("data", look).on("error", reject).on("close", resolve));
}

/** A stream of Node's, as an async iterable. */
export async function forAwait(source, look, chunk) {
  for await (const bytes of await source.readable(chunk)) look(bytes);
}

/** A web stream, by its reader. */
export async function getReader(source, look, chunk) {
  const reader = (await source.webStream(chunk)).getReader();
  for (let part; !(part = await reader.read()).done; ) look(part.value);
}

export async function arrayBuffer(source, look) {
  const response = await source.response();
  look(new Uint8Array(await response.arrayBuffer()));
}
