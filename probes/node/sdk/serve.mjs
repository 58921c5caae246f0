// The loop: a line in, a line out, flushed at once. A request that cannot be done gets an error; the probe lives on.

import { PROTOCOL, description } from "./describe.mjs";
import { Refused, Run, isObject, show } from "./request.mjs";

// The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so that
// junk cannot fill the memory.
const MAX_LINE = 2 ** 20;
const NEWLINE = 10;

/**
 * Serves the declared workloads as runtime `name` until standard input ends or says `exit`. The process ends with
 * status 0 then; with 1 where a pipe failed.
 */
export async function serve(name, version) {
  const write = process.stdout.write.bind(process.stdout);
  // Whatever a workload prints must not get between the replies.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  const failed = (error) => {
    console.error(`probe ${name}: standard input or output failed: ${error.message}`);
    process.exit(1);
  };
  process.stdout.on("error", failed);
  // A workload that failed may leave promises behind that nobody awaits any more.
  process.on("unhandledRejection", (reason) => console.error(`probe ${name}: a promise failed unawaited:`, reason));
  try {
    for await (const line of lines(process.stdin)) {
      const reply = await replyTo(line, name, version);
      if (reply === null) break;
      await new Promise((resolve) => write(`${JSON.stringify(reply)}\n`, resolve));
    }
  } catch (error) {
    failed(error);
  }
  process.exit(0);
}

/** The lines of a stream of bytes, without their ends; null for one that is too long. */
async function* lines(stream) {
  let kept = [];
  let length = 0;
  const take = () => {
    const line = length > MAX_LINE ? null : Buffer.concat(kept);
    kept = [];
    length = 0;
    return line;
  };
  for await (let chunk of stream) {
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE)) {
      length += end;
      kept.push(chunk.subarray(0, end));
      yield take();
      chunk = chunk.subarray(end + 1);
    }
    length += chunk.length;
    if (length <= MAX_LINE) kept.push(chunk);
    else kept = [];
  }
  if (length > 0) yield take();
}

/** The reply to a line; null to `exit`. */
async function replyTo(line, name, version) {
  try {
    const message = parse(line);
    if (message.type === "exit") return null;
    if (message.type === "describe") return describe(message, name, version);
    if (message.type === "run") return await run(message);
    throw new Refused(`unknown request type ${show(message.type)}; known here: describe, run, exit`);
  } catch (error) {
    if (error instanceof Refused) return { type: "error", message: error.message };
    throw error;
  }
}

function parse(line) {
  if (line === null) throw new Refused(`the line is longer than ${MAX_LINE} bytes`);
  let message;
  try {
    message = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(line));
  } catch (error) {
    throw new Refused(`the line is not JSON: ${error.message.slice(0, 200)}`);
  }
  if (!isObject(message)) throw new Refused("the line is not a JSON object");
  return message;
}

function describe(message, name, version) {
  if (message.protocol === PROTOCOL) return description(name, version);
  if (message.protocol === undefined) throw new Refused('the request has no field "protocol"');
  const text =
    `the tool speaks protocol ${show(message.protocol)}, this probe of ${name} speaks protocol ${PROTOCOL}; ` +
    "use a tool and a probe of one release";
  return { type: "error", message: text, protocol: PROTOCOL };
}

async function run(message) {
  const asked = new Run(message);
  let timing;
  try {
    timing = await asked.perform(asked);
  } catch (error) {
    // A workload of the user's may throw anything; it is this request's failure only.
    throw error instanceof Refused ? error : new Refused(`variant ${show(message.variant)} failed: ${error}`);
  }
  const { extra, ...sample } = timing;
  return { type: "sample", id: asked.id, ...sample, ...(Object.keys(extra).length > 0 && { extra }) };
}
