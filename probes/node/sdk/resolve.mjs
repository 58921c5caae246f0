// The hook that finds the SDK. It serves both of Node's ways of hooking, the synchronous and the asynchronous one.

const SDK = new URL("./index.mjs", import.meta.url).href;

export function resolve(specifier, context, nextResolve) {
  if (specifier === "taskscale-probe") return { url: SDK, shortCircuit: true };
  return nextResolve(specifier, context);
}
