package taskscale.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.RecursiveAction;
import java.util.concurrent.RecursiveTask;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * The workload {@code fanout}, ordered, 2,048 tasks, written by hand as one would for JMH: none of the probe's classes,
 * so that whatever the probe's machinery added per task would show as a difference.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Fanout {
    private static final int SIZE = 2048;

    private final int processors = Runtime.getRuntime().availableProcessors();
    private ExecutorService virtual;
    private ExecutorService fixed;
    private ForkJoinPool forkJoin;

    @Setup
    public void start() {
        virtual = Executors.newVirtualThreadPerTaskExecutor();
        fixed = Executors.newFixedThreadPool(processors);
        forkJoin = new ForkJoinPool(processors);
    }

    @TearDown
    public void stop() {
        virtual.close();
        fixed.close();
        forkJoin.close();
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long product(long i) {
        return 31 * i;
    }

    private static long sum(long[] results) {
        long sum = 0;
        for (long result : results) {
            sum += result;
        }
        if (sum != 31L * SIZE * (SIZE - 1) / 2) {
            throw new IllegalStateException("the results add up to " + sum);
        }
        return sum;
    }

    @Benchmark
    public long virtualExecutor() throws Exception {
        long[] results = new long[SIZE];
        List<Future<Long>> futures = new ArrayList<>(SIZE);
        for (int i = 0; i < SIZE; i++) {
            int task = i;
            futures.add(virtual.submit(() -> product(task)));
        }
        for (int i = 0; i < SIZE; i++) {
            results[i] = futures.get(i).get();
        }
        return sum(results);
    }

    @Benchmark
    public long fixedInvokeAll() throws Exception {
        long[] results = new long[SIZE];
        List<Callable<Long>> tasks = new ArrayList<>(SIZE);
        for (int i = 0; i < SIZE; i++) {
            int task = i;
            tasks.add(() -> product(task));
        }
        List<Future<Long>> futures = fixed.invokeAll(tasks);
        for (int i = 0; i < SIZE; i++) {
            results[i] = futures.get(i).get();
        }
        return sum(results);
    }

    @Benchmark
    public long completableFuture() {
        long[] results = new long[SIZE];
        @SuppressWarnings({"unchecked", "rawtypes"})
        CompletableFuture<Long>[] futures = new CompletableFuture[SIZE];
        for (int i = 0; i < SIZE; i++) {
            int task = i;
            futures[i] = CompletableFuture.supplyAsync(() -> product(task));
        }
        CompletableFuture.allOf(futures).join();
        for (int i = 0; i < SIZE; i++) {
            results[i] = futures[i].join();
        }
        return sum(results);
    }

    @Benchmark
    public long forkJoinPool() {
        long[] results = new long[SIZE];
        forkJoin.invoke(new RecursiveAction() {
            @Override
            protected void compute() {
                List<Product> tasks = new ArrayList<>(SIZE);
                for (int i = 0; i < SIZE; i++) {
                    tasks.add(new Product(i));
                }
                ForkJoinTask.invokeAll(tasks);
                for (int i = 0; i < SIZE; i++) {
                    results[i] = tasks.get(i).join();
                }
            }
        });
        return sum(results);
    }

    private static final class Product extends RecursiveTask<Long> {
        private static final long serialVersionUID = 1;
        private final int i;

        Product(int i) {
            this.i = i;
        }

        @Override
        protected Long compute() {
            return product(i);
        }
    }
}
