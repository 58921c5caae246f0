package taskscale.workloads;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import taskscale.sdk.Json;
import taskscale.sdk.Probe;
import taskscale.sdk.Run;
import taskscale.sdk.Timing;
import taskscale.sdk.Variant;

/** {@code interp}: requests to an interpreter that may suspend, in every encoding that Java has for it. */
public final class Interp {
    /** Where the encodings are, which an instrumented run loads again, to count. */
    static final String ENCODINGS = "taskscale.workloads.interp.";
    private static final int MOST_WORKERS = 1000;

    /** A copy of the encodings. */
    static final class Copy extends Copies {
        final boolean counts;

        Copy(boolean counts) {
            super(ENCODINGS);
            this.counts = counts;
        }

        Evaluator evaluator(String encoding, boolean linked, long depth, long every) throws ReflectiveOperationException {
            return (Evaluator) loadClass(ENCODINGS + encoding)
                    .getConstructor(boolean.class, long.class, long.class)
                    .newInstance(linked, depth, every);
        }
    }

    static final Copy TIMED = new Copy(false);
    static final Copy COUNTED = new Copy(true);

    private Interp() {}

    /** Whether a class of an encoding is of the copy that counts. */
    public static boolean counts(Class<?> loaded) {
        return ((Copy) loaded.getClassLoader()).counts;
    }

    /** Answer of an iteration: the number of requests with the right output. */
    public static void declare() {
        Probe.param("interp", "lookup", "by_name",
                "how a call finds its function: in a HashMap, or in the tree; the environment is a linked list",
                "by_name", "prelinked");
        Probe.param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100");
        Probe.param("interp", "depth", 0, "above 0: that many nested lets are evaluated");
        Probe.param("interp", "workers", 0, "above 0: that many threads share the requests, each with a loop of its own");
        Probe.param("interp", "mode", "inproc",
                "whether requests are made in the process, or over HTTP to the server of the JDK", "inproc", Http.CLOSED, Http.OPEN);
        Probe.param("interp", "rate", 50, "http-open: percent of the closed throughput");
        declare("sync", "Sync", false, "plain recursion; an element that suspends calls Thread.yield");
        Virtual.needed(declare("green", "Green", true, "a virtual thread for each request, which runs sync and is joined"));
        declare("async", "Async", false,
                "a CompletableFuture and thenCompose at every node and builtin; " + LOOP);
        declare("async/cached", "AsyncCached", false, "as async; literals give futures that were completed beforehand");
        declare("task", "Task", true,
                "supplyAsync and thenCompose at every node, on a pool; an element that suspends is another task of it");
        declare("union", "Union", false, "an object says that a value is there, or pending; what follows is a lambda; " + LOOP);
        Probe.variant("interp", "constant", Interp::constant)
                .createsTask(false)
                .only("mode", Http.CLOSED, Http.OPEN)
                .note("the right bytes without evaluating: what the server costs");
    }

    private static final String LOOP = "an element that suspends waits for the loop of its thread";

    private static Variant declare(String name, String encoding, boolean createsTask, String note) {
        return Probe.variant("interp", name, run -> perform(run, encoding)).createsTask(createsTask).note(note);
    }

    /** Does all iterations of an encoding inside the timed part. */
    static Timing perform(Run run, String encoding) throws Exception {
        long pause = run.integer("pause"), depth = run.integer("depth"), number = run.integer("workers");
        if (pause != 0 && pause != 6 && pause != 100) {
            throw new IllegalArgumentException("pause is " + pause + "; give 0, 6 or 100");
        }
        if (Long.compareUnsigned(number, MOST_WORKERS) > 0) {
            throw new IllegalArgumentException("workers is " + number + "; give at most " + MOST_WORKERS);
        }
        long every = pause == 0 ? 0 : pause == 6 ? 15 : 1;
        byte[] right = right(depth);
        List<Worker> workers = new ArrayList<>();
        for (int i = 0; i < Math.max(number, 1); i++) {
            Evaluator evaluator = (run.verify ? COUNTED : TIMED)
                    .evaluator(encoding, run.word("lookup").equals("prelinked"), depth, every);
            int all = (int) Math.max(number, 1), share = run.size / all + (i < run.size % all ? 1 : 0);
            workers.add(new Worker(evaluator, share, right));
        }
        Worker first = workers.get(0);
        Timing timing = Http.wanted(run) ? first.serve(run, executor(encoding))
                : number == 0 ? run.time(phases -> first.loop())
                : together(run, workers);
        for (Worker worker : workers) {
            if (worker.wrong != null) {
                throw worker.wrong;
            }
            worker.evaluator.report(timing.extra());
        }
        return timing;
    }

    /** Where a server evaluates requests of an encoding. */
    private static ExecutorService executor(String encoding) {
        return switch (encoding) {
            case "Green" -> Pools.virtual();
            case "Task" -> Pools.forkJoin();
            default -> Pools.one();
        };
    }

    /** Answers the right bytes without evaluating. */
    private static Timing constant(Run run) throws Exception {
        return Http.serve(run, Pools.one(), right(run.integer("depth")), done -> done.accept(null));
    }

    private static byte[] right(long depth) {
        return depth == 0 ? output() : new byte[] {'1'};
    }

    /** Answers requests: in a loop, or those of a server. */
    static final class Worker {
        final Evaluator evaluator;
        final int requests;
        final byte[] right;
        /** What was wrong with the first wrong output. */
        Exception wrong;
        long wallNs;

        Worker(Evaluator evaluator, int requests, byte[] right) {
            this.evaluator = evaluator;
            this.requests = requests;
            this.right = right;
        }

        long loop() throws Exception {
            long done = 0;
            for (int i = 0; i < requests; i++) {
                done += judged(evaluator.request());
            }
            return done;
        }

        /** Judges a result. Returns 1 if it is right. */
        long judged(Object result) {
            String differs = differs(result);
            if (differs == null) {
                return 1;
            }
            wrong = wrong == null ? new IllegalStateException(differs) : wrong;
            return 0;
        }

        /** Writes a result and compares it. Returns what is wrong with it, or null. */
        String differs(Object result) {
            try {
                byte[] written = evaluator.written(result);
                evaluator.answered(written);
                return Arrays.equals(written, right) ? null : difference(written, right);
            } catch (IllegalStateException noValue) {
                return noValue.getMessage();
            }
        }

        /** Is asked over HTTP. */
        Timing serve(Run run, ExecutorService executor) throws Exception {
            evaluator.on(executor);
            return Http.serve(run, executor, right, done -> evaluator.request((result, failed) ->
                    done.accept(failed == null ? differs(result) : failed.toString())));
        }
    }

    /** Has each worker loop in a thread of its own, which waits between iterations. */
    private static Timing together(Run run, List<Worker> workers) throws Exception {
        // A start of an iteration is its latch.
        List<SynchronousQueue<CountDownLatch>> starts = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        long[] done = new long[workers.size()];
        for (int i = 0; i < workers.size(); i++) {
            int me = i;
            Worker worker = workers.get(me);
            SynchronousQueue<CountDownLatch> start = new SynchronousQueue<>();
            starts.add(start);
            threads.add(Threads.DAEMONS.start(() -> {
                try {
                    while (true) {
                        CountDownLatch end = start.take();
                        long began = System.nanoTime();
                        try {
                            done[me] = worker.loop();
                        } catch (Exception | Error failed) {
                            worker.wrong = new IllegalStateException(failed);
                        } finally {
                            worker.wallNs += System.nanoTime() - began;
                            end.countDown();
                        }
                    }
                } catch (InterruptedException ended) {
                    // The run is over.
                }
            }));
        }
        Timing timing = run.time(phases -> {
            CountDownLatch end = new CountDownLatch(workers.size());
            for (SynchronousQueue<CountDownLatch> start : starts) {
                start.put(end);
            }
            end.await();
            return Arrays.stream(done).sum();
        });
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
        timing.extra().put("worker_requests", workers.stream().map(worker -> worker.requests * run.iterations).toList());
        timing.extra().put("worker_wall_ns", workers.stream().map(worker -> worker.wallNs).toList());
        return timing;
    }

    /** The right output of the program, by its definition. */
    static byte[] output() {
        List<String> words = new ArrayList<>();
        for (int i = 1; i <= 100; i++) {
            words.add(i % 15 == 0 ? "\"fizzbuzz\"" : i % 5 == 0 ? "\"buzz\"" : i % 3 == 0 ? "\"fizz\"" : "\"" + i + "\"");
        }
        return ("[" + String.join(",", words) + "]").getBytes(StandardCharsets.UTF_8);
    }

    /** Where an output first differs from the right one. */
    static String difference(byte[] got, byte[] right) {
        int at = Arrays.mismatch(got, right);
        return "a request's output differs from byte " + at + " on: " + part(got, at) + ", right is " + part(right, at)
                + " (" + got.length + " bytes, right are " + right.length + ")";
    }

    private static String part(byte[] text, int at) {
        int length = Math.max(Math.min(text.length - at, 40), 0);
        return Json.write(new String(text, Math.min(at, text.length), length, StandardCharsets.UTF_8));
    }
}
