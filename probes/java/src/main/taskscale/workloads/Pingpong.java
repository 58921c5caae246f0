package taskscale.workloads;

import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/**
 * {@code pingpong}: {@code size} round trips of a token between the two threads of a pair, over {@code pairs} pairs. A thread
 * passes the token on and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the
 * token, and whoever began counts the trip only if that was done.
 */
public final class Pingpong {
    private Pingpong() {}

    /** Answer of an iteration: the number of round trips. */
    public static void declare() {
        Probe.param("pingpong", "pairs", 1, "pairs of threads that share the round trips");
        Probe.param("pingpong", "workers", "cores", "carriers of virtual threads, CPUs of platform threads: the process is "
                + "started with their number", "cores", "one");
        for (Variant variant : declare("virtual/", Virtual.THREADS)) {
            Virtual.needed(variant);
        }
        declare("platform/", Threads.PLATFORM);
    }

    private static List<Variant> declare(String name, Threads kind) {
        return List.of(declare(name + "SynchronousQueue", kind, Rendezvous::new),
                declare(name + "Condition", kind, Guarded::new), declare(name + "park", kind, Parked::new));
    }

    private static Variant declare(String name, Threads kind, Direction.Made made) {
        return Probe.variant("pingpong", name, run -> perform(run, kind, made)).only("workers", "cores");
    }

    /** Where a token is passed, and waited for by one thread. */
    interface Direction {
        void pass(long token) throws InterruptedException;

        long take() throws InterruptedException;

        interface Made {
            Direction make();
        }
    }

    static Timing perform(Run run, Threads kind, Direction.Made made) throws Exception {
        int pairs = (int) run.integer("pairs");
        return run.time(phases -> {
            AtomicLong back = new AtomicLong();
            Thread[] threads = new Thread[2 * pairs];
            for (int pair = 0; pair < pairs; pair++) {
                long trips = run.size / pairs + (pair < run.size % pairs ? 1 : 0);
                Direction there = made.make(), here = made.make();
                threads[2 * pair] = kind.start(() -> pong(there, here, trips));
                threads[2 * pair + 1] = kind.start(() -> back.addAndGet(ping(there, here, trips)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            return back.get();
        });
    }

    /** The thread that begins. Gives the number of trips from which the token came back as it should. */
    private static long ping(Direction there, Direction here, long trips) {
        long back = 0;
        try {
            for (long token = 0; token < trips; token++) {
                there.pass(token);
                if (here.take() == token + 1) {
                    back++;
                }
            }
        } catch (InterruptedException nobody) {
            // Without its trips the answer is wrong, which the tool finds.
        }
        return back;
    }

    /** The thread that answers. */
    private static void pong(Direction there, Direction here, long trips) {
        try {
            for (; trips > 0; trips--) {
                here.pass(there.take() + 1);
            }
        } catch (InterruptedException nobody) {
            // Whoever began would wait for ever, which the tool finds.
        }
    }

    private static final class Rendezvous implements Direction {
        private final SynchronousQueue<Long> queue = new SynchronousQueue<>();

        @Override
        public void pass(long token) throws InterruptedException {
            queue.put(token);
        }

        @Override
        public long take() throws InterruptedException {
            return queue.take();
        }
    }

    /** No token. */
    private static final long NONE = -1;

    /** A token under a lock, with a condition that it is there. */
    private static final class Guarded implements Direction {
        private final ReentrantLock lock = new ReentrantLock();
        private final Condition there = lock.newCondition();
        private long token = NONE;

        @Override
        public void pass(long passed) {
            lock.lock();
            token = passed;
            there.signal();
            lock.unlock();
        }

        @Override
        public long take() throws InterruptedException {
            lock.lock();
            while (token == NONE) {
                there.await();
            }
            long taken = token;
            token = NONE;
            lock.unlock();
            return taken;
        }
    }

    /** A token for a thread that parks until it is there. */
    private static final class Parked implements Direction {
        private final AtomicLong token = new AtomicLong(NONE);
        private volatile Thread taker;

        @Override
        public void pass(long passed) {
            token.set(passed);
            LockSupport.unpark(taker); // none yet: it looks before it parks
        }

        @Override
        public long take() {
            if (taker == null) {
                taker = Thread.currentThread();
            }
            long taken;
            while ((taken = token.getAndSet(NONE)) == NONE) {
                LockSupport.park(this);
            }
            return taken;
        }
    }
}
