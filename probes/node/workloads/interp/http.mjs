// `mode` http-closed and http-open: a server of node:http, whose every GET evaluates a request.

import { once } from "node:events";
import { createServer } from "node:http";

import { next, say } from "../../sdk/index.mjs";

export const MODES = ["http-closed", "http-open"];

/**
 * Serves until the tool says stop. `answer` makes one request and returns what is wrong with its output, or a promise of
 * it; `right` is the body of a response.
 */
export async function serve(run, right, answer) {
  let answered = 0;
  let wrong;
  const body = Buffer.from(right);
  const finish = (response, why) => {
    if (why === undefined) {
      answered++;
      // With `end` alone Node sets the Content-Length.
      response.end(body);
      return;
    }
    wrong ??= why;
    response.statusCode = 500;
    response.end(why);
  };
  const server = createServer((_, response) => {
    const why = answer();
    if (typeof why?.then !== "function") finish(response, why);
    else why.then((why) => finish(response, why), (error) => finish(response, String(error)));
  });
  // The tool closes its connections; the default closes idle ones after 5 s, which a slow server can take between two.
  server.keepAliveTimeout = 0;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  await say({ type: "serving", id: run.id, port: server.address().port, server: `node:http ${process.versions.node}` });
  try {
    await heard("begin");
    answered = 0;
    run.iterations = 1;
    const timing = await run.time(async () => {
      await say({ type: "began", id: run.id });
      await heard("stop");
      return answered;
    });
    if (wrong !== undefined) throw new Error(wrong);
    return timing;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/** Waits for the tool to say `kind`. */
async function heard(kind) {
  while ((await next()) !== kind) await say({ type: "error", message: "a server is running: say begin or stop" });
}
