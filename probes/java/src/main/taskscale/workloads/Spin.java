package taskscale.workloads;

import taskscale.sdk.Probe;

/** {@code spin}: {@code size} steps of the kernel in one call. Tells how long a step takes, so as to choose work. */
public final class Spin {
    private Spin() {}

    /** Answer of an iteration: {@code spin(seed, size)}. */
    public static void declare() {
        Probe.variant("spin", "loop", run -> run.time(phases -> Kernel.spin(run.seed, run.size)))
                .createsTask(false)
                .note("one call, no task");
    }
}
