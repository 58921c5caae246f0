package taskscale.workloads;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/** What an instrumented run counts: executions, their results, and where and how many at once they were. */
final class Count {
    private final AtomicLong executed = new AtomicLong();
    private final AtomicLong sum = new AtomicLong();
    private final AtomicLong live = new AtomicLong();
    private final AtomicLong maxLive = new AtomicLong();
    private final Set<String> workers = ConcurrentHashMap.newKeySet();

    /** A task has been created; to be called by its creator, before. */
    void created() {
        maxLive.accumulateAndGet(live.incrementAndGet(), Math::max);
    }

    /** A task has been done, with that result; to be called by the task, last. */
    void executed(long result) {
        sum.addAndGet(result);
        executed.incrementAndGet();
        workers.add(worker());
        live.decrementAndGet();
    }

    /** The sum of the results since it was last taken. */
    long takeSum() {
        return sum.getAndSet(0);
    }

    /** Adds what was counted to {@code extra}, unless tasks are missing or too many. */
    Timing report(Run run, Timing timing) {
        long expected = run.size * run.iterations;
        if (executed.get() != expected) {
            throw new IllegalStateException(executed + " tasks were executed, " + expected + " were asked for");
        }
        timing.extra().put("executed", executed.get());
        timing.extra().put("max_live", maxLive.get());
        timing.extra().put("workers_seen", (long) workers.size());
        return timing;
    }

    /** The platform thread that runs this. */
    static String worker() {
        return Virtual.THREADS != null ? Virtual.THREADS.carrier() : "thread " + Thread.currentThread().getId();
    }
}
