// The two clocks, both in nanoseconds.

/** Monotonic, a BigInt. Costs about 100 ns. */
export const wallNs = process.hrtime.bigint;

/**
 * CPU that all threads of this process have used, user and system; V8's collector and compiler are among them. From
 * `getrusage`, in whole microseconds: Node shows no finer clock of the process. Costs about 1 us.
 */
export function cpuNs() {
  const { user, system } = process.cpuUsage();
  return (user + system) * 1000;
}

/**
 * The smallest step that `clock` was seen to make in 1,000 steps: what it can really show, cost of reading it
 * included.
 */
export function resolutionNs(clock) {
  let [smallest, last] = [Infinity, clock()];
  for (let steps = 0; steps < 1000; ) {
    const now = clock();
    if (now > last) [smallest, last, steps] = [Math.min(smallest, Number(now - last)), now, steps + 1];
  }
  return smallest;
}
