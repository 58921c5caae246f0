package taskscale.workloads;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.management.Attribute;
import javax.management.JMException;
import javax.management.ObjectName;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/** {@code scale}: {@code size} tasks that a given number of workers shares. */
public final class Scale {
    private static final int MOST_WORKERS = 1000;
    /** The JDK from which on the scheduler of virtual threads can be told how many workers it has, while it runs. */
    private static final int SETTABLE = 24;

    private Scale() {}

    /** A pool of workers. It is started before the timed part, and kept for later requests. */
    interface Pool {
        /** Does all tasks once, each of which fills its slot. */
        void pass(long[] slots, Body body) throws Exception;

        /** Ends its threads. */
        default void close() {}
    }

    interface Start {
        Pool of(int workers) throws Exception;
    }

    /** Answer of an iteration: the sum of the tasks' results. */
    public static void declare() {
        Probe.param("scale", "workers", 1L, "threads that run tasks");
        Probe.param("scale", "work", 0L, "steps of spin per task; 0: the task gives 31 * i");
        var virtual = Probe.variant("scale", "virtual/start", performer(Scale::virtual)).note("one of them creates the others");
        if (Virtual.THREADS == null) {
            Virtual.needed(virtual);
        } else if (Runtime.version().feature() < SETTABLE) {
            virtual.unavailable("the workers of virtual threads can be set from JDK " + SETTABLE + " on, this is "
                    + Runtime.version(), "name a newer one: --runtime java@/path/to/jdk");
        }
        Probe.variant("scale", "forkjoin/fork", performer(Scale::forkJoin)).note("a worker creates the tasks, and joins them");
        Probe.variant("scale", "fixed/submit", performer(Scale::fixed))
                .note("who asks creates the tasks, in a thread more than there are workers, and then waits");
    }

    /** Does all iterations on the pool of the last request, where that has as many workers. */
    static Variant.Perform performer(Start start) {
        var kept = new Object() {
            Pool pool;
            long workers;
        };
        return run -> {
            long workers = run.integer("workers");
            if (workers < 1 || workers > MOST_WORKERS) {
                throw new IllegalArgumentException("workers is " + workers + "; give 1 to " + MOST_WORKERS);
            }
            if (workers != kept.workers) {
                if (kept.pool != null) {
                    kept.pool.close();
                }
                kept.pool = null;
                kept.pool = start.of((int) workers);
                kept.workers = workers;
            }
            return perform(run, kept.pool);
        };
    }

    private static Timing perform(Run run, Pool pool) throws Exception {
        Body body = new Body.Plain();
        long work = run.integer("work");
        if (work > 0) {
            var spun = new Body.Spun();
            spun.seed = run.seed;
            spun.work = work;
            body = spun;
        }
        Count count = new Count();
        if (run.verify) {
            var counted = new Body.Counted();
            counted.body = body;
            counted.count = count;
            body = counted;
        }
        Body task = body;
        Timing timing = run.time(phases -> {
            long[] slots = new long[run.size];
            pool.pass(slots, task);
            return task.answer(slots);
        });
        return run.verify ? count.report(run, timing) : timing;
    }

    /** Virtual threads, on a scheduler of so many carriers. */
    private static Pool virtual(int workers) throws JMException {
        ManagementFactory.getPlatformMBeanServer().setAttribute(
                new ObjectName("jdk.management:type=VirtualThreadScheduler"), new Attribute("Parallelism", workers));
        return (slots, body) -> Virtual.THREADS.start(() -> {
            Thread[] threads = new Thread[slots.length];
            for (int i = 0; i < threads.length; i++) {
                int task = i;
                body.created();
                threads[i] = Virtual.THREADS.start(() -> slots[task] = body.result(task));
            }
            try {
                for (Thread thread : threads) {
                    thread.join();
                }
            } catch (InterruptedException nobody) {
                throw new IllegalStateException(nobody);
            }
        }).join();
    }

    /** A pool in which a worker that joins runs tasks meanwhile, or waits: no thread is added for it. */
    static Pool forkJoin(int workers) {
        var pool = new ForkJoinPool(workers, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, workers, workers, 0,
                waits -> true, 60, TimeUnit.SECONDS);
        return new Pool() {
            @Override
            public void pass(long[] slots, Body body) {
                pool.invoke(ForkJoinTask.adapt(() -> {
                    List<ForkJoinTask<?>> tasks = new ArrayList<>(slots.length);
                    for (int i = 0; i < slots.length; i++) {
                        int task = i;
                        body.created();
                        Runnable run = () -> slots[task] = body.result(task);
                        tasks.add(ForkJoinTask.adapt(run));
                    }
                    ForkJoinTask.invokeAll(tasks);
                }));
            }

            @Override
            public void close() {
                pool.shutdown();
            }
        };
    }

    /** A pool of so many threads with one queue. */
    static Pool fixed(int workers) {
        ExecutorService pool = Executors.newFixedThreadPool(workers, Threads.FACTORY);
        return new Pool() {
            @Override
            public void pass(long[] slots, Body body) throws InterruptedException, ExecutionException {
                List<Future<Long>> tasks = new ArrayList<>(slots.length);
                for (int i = 0; i < slots.length; i++) {
                    int task = i;
                    body.created();
                    Callable<Long> call = () -> body.result(task);
                    tasks.add(pool.submit(call));
                }
                for (int i = 0; i < slots.length; i++) {
                    slots[i] = tasks.get(i).get();
                }
            }

            @Override
            public void close() {
                pool.shutdown();
            }
        };
    }
}
