package taskscale.workloads;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/**
 * {@code blocking}: {@code size} tasks, started at once, of which one in so many blocks for a while: what do the others wait?
 * A task tells how long it was ready before it ran.
 */
public final class Blocking {
    private Blocking() {}

    /** What a task does that blocks. */
    public interface Block {
        void block(long us) throws Exception;
    }

    /** Starts a task. */
    interface Start {
        void start(Runnable task);
    }

    /** Answer of an iteration: the number of tasks done. */
    public static void declare() {
        Probe.param("blocking", "block_us", 1_000L, "how long a task blocks that does, in microseconds");
        Probe.param("blocking", "every", 100L, "one task in so many blocks, the first of them");
        Start virtual = task -> Virtual.THREADS.start(task), platform = Threads.PLATFORM::start;
        Virtual.needed(declare("virtual/without", virtual, null).note("no thread blocks"));
        Variant inline = declare("virtual/inline", virtual, us -> Native.SLEEP.block(us))
                .note("usleep of the C library, which holds the carrier");
        if (Native.SLEEP == null) {
            inline.unavailable("needs JDK 22, which calls C functions", "name a newer JDK: --runtime java@/path/to/jdk");
        }
        Virtual.needed(inline);
        Virtual.needed(declare("virtual/cached_pool", virtual, Blocking::elsewhere)
                .note("on a thread of a pool for it, and waited for"));
        Virtual.needed(declare("virtual/Thread.sleep", virtual, Blocking::sleep).note("gives its carrier back"));
        declare("fixed_pool/without", Pools.fixed()::execute, null).note("no thread blocks");
        declare("fixed_pool/inline", Pools.fixed()::execute, Blocking::sleep).note("Thread.sleep on a thread of the pool");
        declare("platform/without", platform, null).maxSize(Parked.MAX_PLATFORM).note(Parked.WHY);
        declare("platform/inline", platform, Blocking::sleep).maxSize(Parked.MAX_PLATFORM).note(Parked.WHY);
    }

    private static Variant declare(String name, Start start, Block block) {
        return Probe.variant("blocking", name, run -> perform(run, start, block));
    }

    static Void sleep(long us) throws InterruptedException {
        TimeUnit.MICROSECONDS.sleep(us);
        return null;
    }

    /** Sleeps on a thread of a pool for it. */
    static void elsewhere(long us) throws Exception {
        Cached.POOL.submit(() -> sleep(us)).get();
    }

    private static final class Cached {
        static final ExecutorService POOL = Executors.newCachedThreadPool(Threads.FACTORY);
    }

    static final class Native {
        /** Compiled where the JDK has it. */
        static final Block SLEEP = Newer.find(Block.class, "NativeSleep");
    }

    /** One iteration: what its tasks tell. */
    private static final class Burst {
        final long[] waits;
        final AtomicLong blocked = new AtomicLong();
        final CountDownLatch done;

        Burst(int size) {
            waits = new long[size];
            done = new CountDownLatch(size);
        }

        /** Task {@code i}, which is ready from now on and blocks where it is given what does. */
        Runnable task(int i, Block block, long us) {
            long ready = System.nanoTime();
            return () -> {
                waits[i] = System.nanoTime() - ready;
                try {
                    if (block != null) {
                        block.block(us);
                        blocked.incrementAndGet();
                    }
                } catch (Exception failed) {
                    // A call that failed is not counted, which the tool finds.
                } finally {
                    done.countDown();
                }
            };
        }
    }

    /** Does all iterations. */
    static Timing perform(Run run, Start start, Block block) throws Exception {
        long every = run.integer("every"), us = run.integer("block_us");
        long[] all = new long[Math.toIntExact(run.size * run.iterations)];
        long[] sums = new long[2];
        Timing timing = run.timeEach(() -> new Burst(run.size), (phases, burst) -> {
            for (int i = 0; i < run.size; i++) {
                start.start(burst.task(i, i % every == 0 ? block : null, us));
            }
            burst.done.await();
            return run.size;
        }, burst -> {
            System.arraycopy(burst.waits, 0, all, Math.toIntExact(sums[0]), run.size);
            sums[0] += run.size;
            sums[1] += burst.blocked.get();
        });
        Arrays.sort(all);
        timing.extra().put("wait_p50_ns", least(all, 50));
        timing.extra().put("wait_p99_ns", least(all, 99));
        timing.extra().put("wait_max_ns", least(all, 100));
        timing.extra().put("blocked", sums[1]);
        return timing;
    }

    /** The smallest wait that so many percent do not exceed. */
    private static long least(long[] sorted, long percent) {
        return sorted[(int) ((sorted.length * percent + 99) / 100) - 1];
    }
}
