package taskscale.workloads;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;

/**
 * {@code parked}: {@code size} threads that all wait, and are woken and joined. What is timed is the waking; what they hold
 * while they wait is read where the request asks for it.
 */
public final class Parked {
    static final long HOUR = 3_600_000;
    /** If for so long no further thread began to wait, none will. */
    private static final long STUCK_MS = 5_000;
    /** At 16,461 threads that wait, {@code vm.max_map_count} (65,530) is used up. */
    static final int MAX_PLATFORM = 10_000;

    static final String WHY = "one OS thread per task; the kernel's default limits end near 16,000 alive at once";

    private Parked() {}

    /** Answer of an iteration: the number of threads that were woken. */
    public static void declare() {
        Probe.param("parked", "on", "event", "what threads wait for: a CountDownLatch; an hour to pass, which is interrupted; "
                + "a ReentrantLock that is held", "event", "timer", "lock");
        Probe.param("parked", "resident", false, "also reads the memory of the process, after a collection: before the first "
                + "thread, and while all wait");
        Virtual.needed(Probe.variant("parked", "virtual/start", run -> perform(run, Virtual.THREADS, on(run))));
        Probe.variant("parked", "platform/start", run -> perform(run, Threads.PLATFORM, on(run)))
                .maxSize(MAX_PLATFORM).note(WHY);
    }

    /** What threads wait for, fresh in each iteration. */
    interface On {
        /** Waits; whether it was woken as it should be. */
        boolean await() throws InterruptedException;

        /** Wakes all. */
        void wake(Thread[] threads);
    }

    interface Made {
        On make();
    }

    private static Made on(Run run) {
        return switch (run.word("on")) {
            case "timer" -> Sleep::new;
            case "lock" -> Lock::new;
            default -> Event::new;
        };
    }

    static final class Event implements On {
        private final CountDownLatch event = new CountDownLatch(1);

        @Override
        public boolean await() throws InterruptedException {
            event.await();
            return true;
        }

        @Override
        public void wake(Thread[] threads) {
            event.countDown();
        }
    }

    private static final class Sleep implements On {
        @Override
        public boolean await() {
            try {
                Thread.sleep(HOUR);
                return false;
            } catch (InterruptedException woken) {
                return true;
            }
        }

        @Override
        public void wake(Thread[] threads) {
            for (Thread thread : threads) {
                thread.interrupt();
            }
        }
    }

    private static final class Lock implements On {
        private final ReentrantLock held = new ReentrantLock();

        Lock() {
            held.lock();
        }

        @Override
        public boolean await() {
            held.lock();
            held.unlock();
            return true;
        }

        @Override
        public void wake(Thread[] threads) {
            held.unlock();
        }
    }

    /** Does all iterations, of which only the waking is timed. */
    static Timing perform(Run run, Threads kind, Made made) throws Exception {
        boolean resident = Boolean.TRUE.equals(run.params.get("resident"));
        long wall = 0, cpu = 0, answer = 0;
        Map<String, Object> extra = new LinkedHashMap<>();
        for (long iteration = 0; iteration < run.iterations; iteration++) {
            // Later iterations find a heap that has held threads before.
            boolean reads = resident && iteration == 0;
            if (reads) {
                extra.put("resident_before", residentBytes());
            }
            Waiting waiting = new Waiting(made.make());
            Thread[] threads = new Thread[run.size];
            for (int i = 0; i < threads.length; i++) {
                threads[i] = kind.start(waiting);
            }
            waiting.untilAll(threads);
            if (reads) {
                extra.put("resident_waiting", residentBytes());
            }
            Timing part = run.time(1, phases -> {
                waiting.on.wake(threads);
                for (Thread thread : threads) {
                    thread.join();
                }
                return waiting.woken.get();
            });
            wall += part.wallNs();
            cpu += part.cpuNs();
            answer += part.answer();
        }
        if (resident || run.verify) {
            extra.put("waiting", (long) run.size); // each iteration has made sure of it
        }
        return new Timing(wall, cpu, answer, extra);
    }

    /** What every thread does: it waits, and gives its value. */
    static final class Waiting implements Runnable {
        final On on;
        final AtomicLong woken = new AtomicLong();

        Waiting(On on) {
            this.on = on;
        }

        @Override
        public void run() {
            try {
                if (on.await()) {
                    woken.incrementAndGet();
                }
            } catch (InterruptedException nobody) {
                // Without its value the answer is wrong, which the tool finds.
            }
        }

        /** Returns when the virtual machine says of every thread that it waits. */
        void untilAll(Thread[] threads) throws InterruptedException {
            Parked.untilAll(threads);
            // None has gone on behind the one that looked.
            if (woken.get() > 0) {
                throw new IllegalStateException(
                        woken.get() + " of " + threads.length + " threads went on before they were woken");
            }
        }
    }

    /** Returns when the virtual machine says of every thread that it waits. */
    static void untilAll(Thread[] threads) throws InterruptedException {
        long seen = 0, since = System.nanoTime();
        for (int i = 0; i < threads.length; ) {
            Thread.State state = threads[i].getState();
            if (state == Thread.State.TERMINATED) {
                throw new IllegalStateException("a thread of " + threads.length + " ended before it was woken");
            }
            if (state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING) {
                i++;
                continue;
            }
            if (i > seen) {
                seen = i;
                since = System.nanoTime();
            } else if ((System.nanoTime() - since) / 1_000_000 > STUCK_MS) {
                throw new IllegalStateException(
                        i + " of " + threads.length + " threads wait, and the next one does not begin to");
            }
            Thread.sleep(1);
        }
    }

    /**
     * Resident bytes of this process after a collection. {@code smaps_rollup} counts pages; the kernel's running totals lag
     * behind.
     */
    private static long residentBytes() throws IOException {
        System.gc();
        for (String line : Files.readAllLines(Path.of("/proc/self/smaps_rollup"))) {
            if (line.startsWith("Rss:")) {
                return Long.parseLong(line.substring(4).replace("kB", "").trim()) * 1024;
            }
        }
        throw new IOException("/proc/self/smaps_rollup has no line Rss");
    }
}
