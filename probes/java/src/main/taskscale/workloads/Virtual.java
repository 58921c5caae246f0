package taskscale.workloads;

import java.util.concurrent.ExecutorService;
import taskscale.sdk.Variant;

/** Virtual threads, where this JDK has them. */
abstract class Virtual implements Threads {
    /** Null where it has none. */
    static final Virtual THREADS = Newer.find(Virtual.class, "VirtualThreads");

    /** An executor with one for each task. */
    abstract ExecutorService executor();

    /** The platform thread that runs the current thread. */
    abstract String carrier();

    /** Says of a variant that it needs them, where there are none. */
    static Variant needed(Variant variant) {
        return THREADS != null ? variant : variant.unavailable("virtual threads came with JDK 21",
                "name a newer JDK: --runtime java@/path/to/jdk");
    }
}
