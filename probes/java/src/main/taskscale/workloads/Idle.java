package taskscale.workloads;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/**
 * {@code idle}: {@code size} milliseconds are watched, while {@code rate} tasks arrive a second. Task i arrives i steps of
 * {@code 1000 / rate} milliseconds after the beginning, however late the one before it was, and adds a step to a count. A
 * few hundred a millisecond apart come before, untimed: classes are loaded and first compiled at them.
 */
public final class Idle {
    private static final int BEFORE = 200;

    private Idle() {}

    /** Starts tasks at their times, counted in milliseconds from now, and returns when the last one is started. */
    interface Form {
        void arrive(int number, long step, Runnable task) throws Exception;
    }

    /** Answer of an iteration: the count. */
    public static void declare() {
        Probe.param("idle", "rate", 1000, "tasks that arrive a second: 1, 10, 100 or 1000");
        Virtual.needed(declare("virtual/sleep", Idle::sleeping)
                .note("a virtual thread sleeps, and starts one for each task"));
        declare("ScheduledThreadPool/schedule", Idle::scheduling)
                .note("each task when the one before it runs; as many threads as processors");
        Virtual.needed(declare("outside/virtual", outside(task -> Virtual.THREADS.start(task)))
                .note("a platform thread sleeps"));
        declare("outside/fixed_pool", outside(Pools.fixed())).note("a platform thread sleeps");
    }

    private static Variant declare(String name, Form form) {
        return Probe.variant("idle", name, run -> perform(run, form));
    }

    private static Timing perform(Run run, Form form) throws Exception {
        long rate = run.integer("rate");
        if (rate != 1 && rate != 10 && rate != 100 && rate != 1000) {
            throw new IllegalArgumentException("rate is " + rate + "; give 1, 10, 100 or 1000");
        }
        long step = 1000 / rate;
        if (run.size % step != 0) {
            throw new IllegalArgumentException(
                    "in " + run.size + " ms no whole number of tasks arrives at " + rate + " a second");
        }
        once(form, BEFORE, 1);
        return run.time(phases -> once(form, Math.toIntExact(run.size / step), step));
    }

    private static long once(Form form, int number, long step) throws Exception {
        var count = new AtomicLong();
        var ended = new CountDownLatch(number);
        form.arrive(number, step, () -> {
            count.addAndGet(step);
            ended.countDown();
        });
        ended.await();
        return count.get();
    }

    /** Sleeps until each time, and calls {@code start}. */
    private static void sleepUntilEach(int number, long step, Runnable start) throws InterruptedException {
        long begun = System.nanoTime();
        for (int i = 1; i <= number; i++) {
            for (long left; (left = begun + i * step * 1_000_000 - System.nanoTime()) > 0; ) {
                TimeUnit.NANOSECONDS.sleep(left);
            }
            start.run();
        }
    }

    private static void sleeping(int number, long step, Runnable task) {
        Virtual.THREADS.start(() -> {
            try {
                sleepUntilEach(number, step, () -> Virtual.THREADS.start(task));
            } catch (InterruptedException nobody) {
                // Tasks that are missing are waited for in vain, which the tool finds.
            }
        });
    }

    private static Form outside(Executor executor) {
        return (number, step, task) -> sleepUntilEach(number, step, () -> executor.execute(task));
    }

    private static void scheduling(int number, long step, Runnable task) {
        long begun = System.nanoTime();
        var next = new LongConsumer() {
            @Override
            public void accept(long i) {
                long left = begun + i * step * 1_000_000 - System.nanoTime();
                Scheduled.POOL.schedule(() -> {
                    if (i < number) {
                        accept(i + 1);
                    }
                    task.run();
                }, left, TimeUnit.NANOSECONDS);
            }
        };
        next.accept(1);
    }

    private static final class Scheduled {
        // Daemons, so that none of them keeps the process from its end.
        static final ScheduledThreadPoolExecutor POOL = new ScheduledThreadPoolExecutor(
                Runtime.getRuntime().availableProcessors(), Threads.FACTORY);
    }
}
