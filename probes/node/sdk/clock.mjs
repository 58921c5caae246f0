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
  let least = Infinity;
  for (let step = 0; step < 1000; step++) {
    const start = clock();
    let now = start;
    while (now === start) now = clock();
    least = Math.min(least, Number(now - start));
  }
  return least;
}
