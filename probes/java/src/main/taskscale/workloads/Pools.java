package taskscale.workloads;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;

/** The pools that forms and servers use: each made once per process, when the first form asks. */
public final class Pools {
    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private Pools() {}

    /** As many threads as processors, with one queue. */
    public static ExecutorService fixed() {
        return Fixed.POOL;
    }

    /** One thread with a queue: a loop. */
    public static ExecutorService one() {
        return One.POOL;
    }

    /** A virtual thread for each task. */
    public static ExecutorService virtual() {
        return Each.POOL;
    }

    /** As many workers as processors, with a queue each. */
    public static ForkJoinPool forkJoin() {
        return ForkJoin.POOL;
    }

    private static final class Fixed {
        // Daemons, so that none of them keeps the process from its end.
        static final ExecutorService POOL =
                Executors.newFixedThreadPool(PROCESSORS, Threads.FACTORY);
    }

    private static final class One {
        static final ExecutorService POOL = Executors.newSingleThreadExecutor(Threads.FACTORY);
    }

    private static final class Each {
        static final ExecutorService POOL = Virtual.THREADS.executor();
    }

    private static final class ForkJoin {
        static final ForkJoinPool POOL = new ForkJoinPool(PROCESSORS);
    }
}
