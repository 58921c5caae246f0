package taskscale.workloads;

import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/**
 * {@code cancel}: {@code size} threads that all wait for what never comes, cancelled and joined, both of which is timed. That
 * all wait is made sure of as {@link Parked} does it.
 */
public final class Cancel {
    private Cancel() {}

    /** Answer of an iteration: the number of threads that saw that they were cancelled. */
    public static void declare() {
        Probe.param("cancel", "on", "event", "what threads wait for: a CountDownLatch; an hour to pass; a ReentrantLock that is "
                + "held", "event", "timer", "lock");
        Probe.param("cancel", "first", "oldest", "which thread is cancelled first", "oldest", "newest");
        Virtual.needed(Probe.variant("cancel", "virtual/interrupt", run -> interrupt(run, Virtual.THREADS)));
        Virtual.needed(Probe.variant("cancel", "virtual/Future.cancel", Newer.find(Variant.Perform.class, "FutureCancel")));
        Probe.variant("cancel", "platform/interrupt", run -> interrupt(run, Threads.PLATFORM))
                .maxSize(Parked.MAX_PLATFORM).note(Parked.WHY);
    }

    /** What a thread waits for, until it is interrupted. */
    interface On {
        void await() throws InterruptedException;
    }

    static On on(String word) {
        switch (word) {
            case "timer":
                return () -> Thread.sleep(Parked.HOUR);
            case "lock":
                ReentrantLock held = new ReentrantLock();
                held.lock();
                return held::lockInterruptibly;
            default:
                return new CountDownLatch(1)::await;
        }
    }

    /** What every thread does. */
    static final class Waiter implements Runnable {
        private final On on;
        final AtomicLong cancelled = new AtomicLong();

        Waiter(On on) {
            this.on = on;
        }

        @Override
        public void run() {
            try {
                on.await();
            } catch (InterruptedException cut) {
                cancelled.incrementAndGet();
            }
        }
    }

    /** Threads that all wait. */
    private record Made(Waiter waiter, Thread[] threads) {}

    /** {@code interrupt} of each thread, then each joined. */
    private static Timing interrupt(Run run, Threads kind) throws Exception {
        return run.timeEach(() -> {
            Waiter waiter = new Waiter(on(run.word("on")));
            Thread[] threads = new Thread[run.size];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = kind.start(waiter);
            }
            Parked.untilAll(threads);
            if (isNewest(run)) {
                Collections.reverse(Arrays.asList(threads));
            }
            return new Made(waiter, threads);
        }, (phases, made) -> {
            for (Thread thread : made.threads) {
                thread.interrupt();
            }
            for (Thread thread : made.threads) {
                thread.join();
            }
            return made.waiter.cancelled.get();
        });
    }

    static boolean isNewest(Run run) {
        return run.word("first").equals("newest");
    }
}
