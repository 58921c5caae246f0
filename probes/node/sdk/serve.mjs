// The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on.

import { createInterface } from "node:readline";

import { counters } from "./counters.mjs";
import { PROTOCOL, description } from "./describe.mjs";
import { request } from "./request.mjs";

let lines;
let write;

/** The type of the tool's next line, for a workload that has lines of its own. */
export async function next() {
  const { value, done } = await lines.next();
  if (done) throw new Error("the tool is gone");
  try {
    return JSON.parse(value).type;
  } catch {
    return undefined;
  }
}

/** Writes a line. */
export function say(message) {
  return new Promise((resolve) => write(`${JSON.stringify(message)}\n`, resolve));
}

/** Serves the declared workloads as runtime `name` until standard input ends or says `exit`; then ends the process. */
export async function serve(name, version) {
  write = process.stdout.write.bind(process.stdout);
  // Whatever a workload prints must not get between the replies.
  process.stdout.write = process.stderr.write.bind(process.stderr);
  process.stdout.on("error", () => process.exit(1));
  // A workload that failed may leave promises behind that nobody awaits any more.
  process.on("unhandledRejection", (reason) => console.error(`probe ${name}: a promise failed unawaited:`, reason));
  lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (let line = await lines.next(); !line.done; line = await lines.next()) {
    const said = await reply(line.value, name, version);
    if (said === null) break;
    await say(said);
  }
  process.exit(0);
}

/** The reply to a line; null to `exit`. Whatever is thrown is this request's failure only. */
async function reply(line, name, version) {
  try {
    const asked = parse(line);
    if (asked.type === "exit") return null;
    if (asked.type === "run") return await run(...request(asked));
    if (asked.type !== "describe") {
      throw new Error(`unknown request type ${JSON.stringify(asked.type)}; known here: describe run exit`);
    }
    if (asked.protocol === PROTOCOL) return description(name, version);
    const both = `the tool speaks protocol ${asked.protocol}, this probe of ${name} speaks protocol ${PROTOCOL}`;
    throw new Error(`${both}; use a tool and a probe of one release`);
  } catch (error) {
    return { type: "error", message: place(error) + String(error?.message || error), protocol: PROTOCOL };
  }
}

/** Where in the user's own file it came up (`my_probe.mjs:12: `), if there; then standard error has the stack. */
function place(error) {
  const own = process.env.TASKSCALE_PROBE_FILE;
  // What stands below the loop is where the loop was called.
  const places = String(error?.stack).split("/sdk/serve.mjs")[0].matchAll(/([^/\\(\s]+):(\d+):\d+/g);
  const line = [...places].find(([, file]) => file === own)?.[2];
  if (line) console.error(error.stack);
  return line ? `${own}:${line}: ` : "";
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new Error(`the line is not JSON: ${error.message.slice(0, 200)}`);
  }
}

/** Performs a request. */
async function run(perform, run) {
  const counted = counters(run);
  const { extra, ...times } = await perform(run);
  if (run.counters) extra.counters = await counted();
  return { type: "sample", id: run.id, ...times, ...(Object.keys(extra).length > 0 && { extra }) };
}
