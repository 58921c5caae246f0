package taskscale.workloads;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/**
 * {@code remote}: {@code size} tasks that platform threads hand to the runtime which are none of its workers. The threads are
 * started before the timed part, and wait. Each iteration lets them go, all at once, and ends when the last task has run. A task
 * adds one to a count.
 */
public final class Remote {
    private static final int MOST_PRODUCERS = 64;

    private Remote() {}

    /** What takes a task. */
    interface Pool {
        void hand(Runnable task);
    }

    /** Answer of an iteration: the number of tasks that have run. */
    public static void declare() {
        Probe.param("remote", "producers", 1L, "platform threads outside of the pool that share the tasks");
        String here = "tasks in place of the threads";
        Pool start = task -> Virtual.THREADS.start(task);
        Virtual.needed(Probe.variant("remote", "virtual/start", run -> fromThreads(run, start))
                .note("Thread.startVirtualThread"));
        Virtual.needed(Probe.variant("remote", "virtual/execute", run -> fromThreads(run, Pools.virtual()::execute))
                .note("of newVirtualThreadPerTaskExecutor"));
        Virtual.needed(Probe.variant("remote", "virtual/local", run -> fromTasks(run, start)).note(here));
        Probe.variant("remote", "forkjoin/execute", run -> fromThreads(run, Pools.forkJoin()::execute))
                .note("ForkJoinPool.execute");
        Probe.variant("remote", "forkjoin/local", run -> fromTasks(run, Pools.forkJoin()::execute)).note(here);
        Probe.variant("remote", "fixed/execute", run -> fromThreads(run, Pools.fixed()::execute))
                .note("a ThreadPoolExecutor with a LinkedBlockingQueue");
    }

    /** Tasks of each producer: as even a share as can be. */
    static int[] shares(Run run) {
        long producers = run.integer("producers");
        if (producers < 1 || producers > MOST_PRODUCERS) {
            throw new IllegalArgumentException("producers is " + producers + "; give 1 to " + MOST_PRODUCERS);
        }
        int[] shares = new int[(int) producers];
        for (int one = 0; one < shares.length; one++) {
            shares[one] = run.size / shares.length + (one < run.size % shares.length ? 1 : 0);
        }
        return shares;
    }

    static Timing fromThreads(Run run, Pool pool) throws Exception {
        int[] shares = shares(run);
        Ran ran = new Ran(run.size);
        Gate gate = new Gate();
        Runnable one = ran::one;
        List<Thread> threads = new ArrayList<>();
        try {
            for (int share : shares) {
                threads.add(Threads.DAEMONS.start(() -> {
                    for (long iteration = 1; gate.pass(iteration); iteration++) {
                        for (int left = share; left > 0; left--) {
                            pool.hand(one);
                        }
                    }
                }));
            }
            gate.await(shares.length);
            return run.time(phases -> {
                ran.begin();
                gate.open();
                return ran.await();
            });
        } finally {
            gate.close();
            for (Thread thread : threads) {
                thread.join();
            }
        }
    }

    static Timing fromTasks(Run run, Pool pool) throws Exception {
        int[] shares = shares(run);
        Ran ran = new Ran(run.size);
        Runnable one = ran::one;
        return run.time(phases -> {
            ran.begin();
            for (int share : shares) {
                pool.hand(() -> {
                    for (int left = share; left > 0; left--) {
                        pool.hand(one);
                    }
                });
            }
            return ran.await();
        });
    }

    /** The tasks of an iteration. The last one wakes the thread that waits. */
    private static final class Ran {
        private final AtomicLong count = new AtomicLong();
        private final long all;
        private final Thread waits = Thread.currentThread();

        Ran(long all) {
            this.all = all;
        }

        void begin() {
            count.set(0);
        }

        /** What a task does. */
        void one() {
            if (count.incrementAndGet() == all) {
                LockSupport.unpark(waits);
            }
        }

        /** Waits for all tasks and gives how many have run. */
        long await() {
            while (count.get() < all) {
                LockSupport.park(this);
            }
            return count.get();
        }
    }

    /** What producers wait at. */
    private static final class Gate {
        private long opened;
        private int came;
        private boolean closed;

        /** Opens it for the next iteration. */
        synchronized void open() {
            opened++;
            notifyAll();
        }

        /** Lets producers end. */
        synchronized void close() {
            closed = true;
            notifyAll();
        }

        /** Waits until it was opened so often. Gives whether it was. */
        synchronized boolean pass(long iteration) {
            if (iteration == 1) {
                came++;
                notifyAll();
            }
            while (opened < iteration && !closed) {
                pause();
            }
            return opened >= iteration;
        }

        /** Waits until so many have come. */
        synchronized void await(int producers) {
            while (came < producers) {
                pause();
            }
        }

        private void pause() {
            try {
                wait();
            } catch (InterruptedException nobody) {
                throw new IllegalStateException(nobody);
            }
        }
    }
}
