// `node main.mjs node`: the Node probe on standard input and output. `node+large-semi-space` is started with more flags
// (README.md).

// This file must be readable by every Node, so that an old one can say what it lacks.
const [major] = process.versions.node.split(".").map(Number);

async function main(runtime) {
  if (runtime !== "node" && runtime !== "node+large-semi-space") {
    console.error(`no runtime ${JSON.stringify(runtime)} in this probe; choose node or node+large-semi-space`);
    process.exit(2);
  }
  if (major < 18) return tooOld();
  const { declare } = await import("./workloads/index.mjs");
  const { serve } = await import("./sdk/index.mjs");
  declare(runtime);
  await serve(runtime, process.versions.node);
}

/** Answers each request that this Node lacks something; what a probe does when its runtime is not here. */
function tooOld() {
  const message = `the probe needs Node 18 or later, this is ${process.versions.node} (${process.execPath})`;
  const remedy = "name another: --runtime node@/path/to/node";
  let rest = "";
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line.includes('"exit"')) process.exit(0);
      process.stdout.write(JSON.stringify({ type: "error", message, missing: true, remedy }) + "\n");
    }
  });
}

main(process.argv[2] || "");
