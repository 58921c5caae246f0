package taskscale.workloads;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/**
 * The garbage collector, which no call turns off, kept from running by a young generation that does not fill. The flags
 * are those of the process (README.md).
 */
public final class Collector {
    /** The runtime of whose timed parts none may be collected. */
    public static final String UNCOLLECTED = "java+large-young";

    private static final List<GarbageCollectorMXBean> ALL = ManagementFactory.getGarbageCollectorMXBeans();

    private Collector() {}

    /** What is timed. */
    interface Timed { Timing apply() throws Exception; }

    /** Collections so far, of all generations. */
    private static long collections() { return ALL.stream().mapToLong(GarbageCollectorMXBean::getCollectionCount).sum(); }

    /**
     * Times what may not be collected. What earlier requests left is collected before, so that each begins with an empty
     * young generation, whose memory is used again.
     */
    static Timing uncollected(Run run, Timed timed) throws Exception {
        System.gc();
        long before = collections();
        Timing timing = timed.apply();
        long ran = collections() - before;
        if (ran > 0) {
            throw new IllegalStateException("the collector ran all the same (collections: " + ran
                    + "): the young generation of a heap of " + (Runtime.getRuntime().maxMemory() >> 20)
                    + " MB ran out (" + run.size + " tasks, " + run.iterations
                    + " times); ask for fewer tasks (--size), or for java");
        }
        timing.extra().put("gc_collections", List.of(ran));
        return timing;
    }
}
