// Claims 9; 10; 12; 13; 14 to 16; 17 to 20; 28; 29; 35; 36 of Taskflow's guide, by Java's ForkJoinPool.
//   java ForkJoin.java --claim 12      (JDK 22 or newer: the clock of the process is a function of C)
import java.lang.foreign.*;
import java.lang.invoke.MethodHandle;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.function.*;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

public class ForkJoin {
  static final int CORES = Runtime.getRuntime().availableProcessors();
  static final int[] COUNTS = CORES > 1 ? new int[] {1, CORES} : new int[] {1};

  // A pool of so many threads, kept until the process ends.
  static final Map<Integer, ForkJoinPool> POOLS = new HashMap<>();
  static ForkJoinPool pool(int w) { return POOLS.computeIfAbsent(w, ForkJoin::made); }
  // A pool whose threads do not end between two samples. One that waits in a join blocks where no further thread is allowed
  // (the predicate); without it the join throws, as it does on a busy machine.
  static ForkJoinPool made(int w) {
    return new ForkJoinPool(w, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true, w, w, 1, pool -> true, 60, TimeUnit.SECONDS);
  }
  static <T> T within(int w, Supplier<T> body) { return pool(w).submit(body::get).join(); }

  static final class Task extends RecursiveAction {
    final LongConsumer body;
    final long i;
    Task(LongConsumer body, long i) { this.body = body; this.i = i; }
    @Override protected void compute() { body.accept(i); }
  }
  // n tasks, forked by a task of the pool.
  static void tasks(ForkJoinPool pool, long n, LongConsumer body) {
    pool.invoke(new RecursiveAction() {
      @Override protected void compute() {
        ForkJoinTask<?>[] all = new ForkJoinTask<?>[(int) n];
        for (int i = 0; i < n; i++) all[i] = new Task(body, i).fork();
        for (int i = (int) n - 1; i >= 0; i--) all[i].join();
      }
    });
  }
  static long timed(Sample s, int w, long n, long steps, long waitUs) {
    long[] slots = new long[(int) n];
    ForkJoinPool pool = pool(w);
    s.start();
    tasks(pool, n, i -> {
      slots[(int) i] = spin(i, steps);
      if (waitUs > 0) java.util.concurrent.locks.LockSupport.parkNanos(waitUs * 1000);
    });
    s.stop();
    return LongStream.of(slots).sum();
  }

  static void pools(Program p) {
    List<String> arms = new ArrayList<>();
    for (int w : new int[] {1, 2, 4, 8, 16, 64}) {
      arms.add("executor/" + w);
      p.arm("executor/" + w, w, w, (double) w, s -> {
        AtomicLong came = new AtomicLong();
        s.start();
        CyclicBarrier barrier = new CyclicBarrier(w);
        try (ForkJoinPool pool = made(w)) {
          for (int i = 0; i < w; i++) pool.execute(() -> {
            try { barrier.await(); } catch (InterruptedException | BrokenBarrierException e) { throw new IllegalStateException(e); }
            came.incrementAndGet();
          });
        }
        s.stop();
        return came.get();
      });
    }
    p.claim(9, "An executor costs on the order of 100 us or more per thread", "cpu", "tasks are threads; start: a pool whose threads have met; stop: close, which waits for them", List.of(
        slope("each further thread, of the sample", "cpu_ns/sample", arms, 100e3), slope("each further thread, wall time", "wall_ns/sample", arms, 100e3),
        bound("value", "per thread, 64 threads", "cpu_ns", of("one", "executor/64"), 100e3, null), bound("value", "per thread, 64 threads, wall time", "wall_ns", of("one", "executor/64"), 100e3, null)));
  }

  static void reuse(Program p) {
    int tasks = 16;
    List<String> fresh = new ArrayList<>(), reused = new ArrayList<>();
    for (long us = 1; us <= (p.quick ? 1_000 : 10_000); us *= 10) {
      long steps = us * 1000 / tasks, answer = spins(tasks, steps);
      double x = steps * tasks * stepNs();
      Function<ForkJoinPool, Long> run = pool -> {
        long[] slots = new long[tasks];
        tasks(pool, tasks, i -> slots[(int) i] = spin(i, steps));
        return LongStream.of(slots).sum();
      };
      fresh.add("new/" + steps * tasks);
      reused.add("reused/" + steps * tasks);
      p.arm(fresh.getLast(), 1, answer, x, s -> {
        s.start();
        long sum;
        try (ForkJoinPool pool = made(CORES)) { sum = run.apply(pool); }
        s.stop();
        return sum;
      });
      p.arm(reused.getLast(), 1, answer, x, s -> { ForkJoinPool pool = pool(CORES); s.start(); long sum = run.apply(pool); s.stop(); return sum; });
    }
    p.claim(10, "Reuse the executor: its construction can dominate short computations", "wall", "each sample is 16 tasks; a new pool is closed after them", List.of(
        ratio("short runs, about 1 us of work: reused against new", "wall_ns", reused.getFirst(), fresh.getFirst(), null, 0.5), ratio("the same, CPU time", "cpu_ns", reused.getFirst(), fresh.getFirst(), null, 0.5),
        crossover("work in ns from which on reuse saves less than 5 %", "wall_ns", reused, fresh, 1, 0.95, null, null)));
  }

  static void smallest(Program p) {
    long budget = p.size(4_000_000, 200_000), longest = p.size(65_536, 2_048);
    List<String> bounds = new ArrayList<>();
    for (int w : COUNTS) {
      List<String> serial = new ArrayList<>(), tasks = new ArrayList<>();
      for (long s = 32; s <= longest; s *= 2) { serial.add("loop/" + s); tasks.add("tasks/" + w + "/" + s); }
      for (int percent : new int[] {50, 90, 95}) {
        Double from = percent == 90 ? 10e3 : null, to = percent == 90 ? 100e3 : null;
        String what = percent + " %, " + w + " workers";
        bounds.add(crossover(what, "wall_ns", serial, tasks, 1.0 / w, percent / 100.0, from, to));
        bounds.add(crossover(what + ", CPU time", "cpu_ns", serial, tasks, 1, percent / 100.0, from, to));
      }
    }
    p.claim(12, "Each task should represent at least 10 to 100 us of work", "cpu", "the axis is the length of a task in ns; efficiency is the time of a plain loop over that of the tasks (claim 12 of Taskflow). Tasks are created within the timed part: fork and join of RecursiveActions", bounds);
    for (long s = 32; s <= longest; s *= 2) {
      long steps = s, n = Math.max(budget / s, 2L * CORES), answer = spins(n, s);
      p.arm("loop/" + s, n, answer, s * stepNs(), sample -> {
        long[] slots = new long[(int) n];
        sample.start();
        for (int i = 0; i < n; i++) slots[i] = spin(i, steps);
        sample.stop();
        return LongStream.of(slots).sum();
      });
      for (int w : COUNTS) p.arm("tasks/" + w + "/" + s, n, answer, s * stepNs(), sample -> timed(sample, w, n, steps, 0));
    }
  }

  // Tasks with those that come after them: the last one before a task forks it.
  static final class Graph {
    final int[][] after;
    final AtomicIntegerArray waits;
    Graph(int n, IntFunction<int[]> before) {
      List<List<Integer>> lists = new ArrayList<>();
      waits = new AtomicIntegerArray(n);
      for (int i = 0; i < n; i++) {
        lists.add(new ArrayList<>());
        for (int j : before.apply(i)) { lists.get(j).add(i); waits.incrementAndGet(i); }
      }
      after = lists.stream().map(list -> list.stream().mapToInt(i -> i).toArray()).toArray(int[][]::new);
    }
    void run(ForkJoinPool pool, LongConsumer body) {
      CountDownLatch left = new CountDownLatch(after.length);
      LongConsumer go = new LongConsumer() {
        @Override public void accept(long i) {
          body.accept(i);
          for (int j : after[(int) i]) if (waits.decrementAndGet(j) == 0) new Task(this, j).fork();
          left.countDown();
        }
      };
      int[] first = IntStream.range(0, after.length).filter(i -> waits.get(i) == 0).toArray();
      for (int i : first) pool.execute(new Task(go, i));
      try { left.await(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
    }
  }
  // The tasks before task i, by shape, as in claim 13 of Taskflow.
  static int[] before(String shape, int n, int i) {
    int width = (int) Math.sqrt(n);
    return switch (shape) {
      case "chain" -> i > 0 ? new int[] {i - 1} : new int[0];
      case "tree" -> i > 0 ? new int[] {(i - 1) / 2} : new int[0];
      case "wavefront" -> i % width > 0 && i >= width ? new int[] {i - 1, i - width} : i % width > 0 ? new int[] {i - 1} : i >= width ? new int[] {i - width} : new int[0];
      default -> new int[0];
    };
  }
  static void empty(Program p) {
    int n = (int) p.size(10_000, 400);
    List<String> bounds = new ArrayList<>();
    for (String shape : List.of("independent", "chain", "tree", "wavefront")) {
      List<String> arms = new ArrayList<>();
      for (int w : COUNTS) {
        arms.add("run/" + shape + "/" + w);
        p.arm(arms.getLast(), n, n, null, s -> {
          AtomicIntegerArray done = new AtomicIntegerArray(n);
          AtomicLong right = new AtomicLong();
          new Graph(n, i -> before(shape, n, i)).run(pool(w), i -> {  // the check, outside the timed part
            if (IntStream.of(before(shape, n, (int) i)).allMatch(j -> done.get(j) == 1)) right.incrementAndGet();
            done.set((int) i, 1);
          });
          Graph graph = new Graph(n, i -> before(shape, n, i));
          s.settle();
          s.start();
          graph.run(pool(w), i -> {});
          s.stop();
          return right.get();
        });
      }
      bounds.add(report(shape + ", an empty task", "cpu_ns", arms));
      bounds.add(report(shape + ", an empty task, wall time", "wall_ns", arms));
    }
    p.claim(13, "Empty tasks show the pure overhead of construction and scheduling, at the target worker count", "cpu", "always reported: the claim names no figure. ForkJoinPool has no graphs: the last task before another forks it, by a counter; the counters are made before", bounds);
  }

  static final List<String> POLICIES = List.of("static", "stream", "halves/1", "halves/64", "counter/1");
  static final class Halves extends RecursiveAction {
    final int from, to, least;
    final LongConsumer body;
    Halves(int from, int to, int least, LongConsumer body) { this.from = from; this.to = to; this.least = least; this.body = body; }
    @Override protected void compute() {
      if (to - from <= least) { for (int i = from; i < to; i++) body.accept(i); return; }
      int middle = (from + to) >>> 1;
      Halves right = new Halves(middle, to, least, body);
      right.fork();
      new Halves(from, middle, least, body).compute();
      right.join();
    }
  }
  static void each(ForkJoinPool pool, String policy, int n, LongConsumer body) {
    int w = pool.getParallelism();
    switch (policy) {
      case "static" -> tasks(pool, w, part -> { for (long i = part * n / w; i < (part + 1) * n / w; i++) body.accept(i); });
      case "stream" -> pool.submit(() -> LongStream.range(0, n).parallel().forEach(body)).join();
      case "counter/1" -> {
        AtomicInteger next = new AtomicInteger();
        tasks(pool, w, part -> { for (int i; (i = next.getAndIncrement()) < n; ) body.accept(i); });
      }
      default -> pool.invoke(new Halves(0, n, Integer.parseInt(policy.substring(7)), body));
    }
  }
  static void partitioners(Program p) {
    int n = (int) p.size(65_536, 4_096);
    String note = "wall time, since idle workers are what a bad partition costs; stream is LongStream.parallel(), the library's own policy (four pieces a worker, by halves); halves/1 and halves/64 are RecursiveActions of at most so many elements; static gives each worker an equal part; counter/1 is an atomic counter";
    List<String> c14 = new ArrayList<>(), c15 = new ArrayList<>(), c16 = new ArrayList<>();
    for (Profile profile : PROFILES) {
      List<String> names = POLICIES.stream().map(policy -> profile.name + "/" + policy).toList();
      String one = names.get(profile.name.equals("uniform") ? 0 : 3), usual = names.get(1);
      for (String policy : POLICIES) {
        String name = profile.name + "/" + policy;
        p.arm(name, n, n == 65_536 ? profile.large : profile.small, null, s -> {
          long[] results = new long[n];
          ForkJoinPool pool = pool(CORES);
          s.start();
          each(pool, policy, n, i -> results[(int) i] = profile.at.applyAsLong(i, n));
          s.stop();
          return LongStream.of(results).sum();
        });
        if (!name.equals(one)) (profile.name.equals("uniform") ? c14 : c15).add(noMore(one, name));
        if (!name.equals(usual)) c16.add(ratio(usual + ": at most 20 % more than " + name, "wall_ns", usual, name, null, 1.2));
      }
      c16.add(report("by policy", "wall_ns", names));
    }
    p.claim(14, "Static partitioning is best for uniform work", "wall", note, c14);
    p.claim(15, "Dynamic with a small chunk is best for irregular work", "wall", note, c15);
    p.claim(16, "Guided, the default, is reasonable in most cases", "wall", note + ". The default is stream; reasonable is read as at most 20 % slower than the best", c16);
  }

  static final int BLOCK = 4_096;
  static long elements(long from, long to) { long sum = 0; for (long i = from; i < to; i++) sum += splitmix(i); return sum; }
  static long updated(Sample s, long n, int w, int every, LongConsumer add, LongSupplier total) {
    ForkJoinPool pool = pool(w);
    s.start();
    pool.invoke(new Halves(0, (int) (n / BLOCK), 1, block -> { for (long from = block * BLOCK; from < (block + 1) * BLOCK; from += every) add.accept(elements(from, from + every)); }));
    s.stop();
    return total.getAsLong();
  }
  static void counter(Program p) {
    long n = p.size(1 << 20, 1 << 16), answer = elements(0, n);
    int w = CORES;
    String note = "as claims 17 to 20 of Taskflow. The reduction is LongStream.parallel().sum() over blocks of 4,096, the mutex is synchronized. The compiler may compute several elements of a block at once, where none is added to a counter";
    List<String> atomics = new ArrayList<>(), mutexes = new ArrayList<>();
    for (int every : new int[] {1, 8, 64, 4_096}) { atomics.add("atomic/" + w + "/" + every); mutexes.add("mutex/" + w + "/" + every); }
    String reduced = "reduce/" + w, text = "... especially at 32 and more cores";
    p.claim(17, "An atomic add for each element is far slower than a reduction by index", "cpu", note, List.of(
        ratio("all workers, loop over blocks: at least twice", "cpu_ns", atomics.getFirst(), reduced, 2.0, null), ratio("all workers, wall time", "wall_ns", atomics.getFirst(), reduced, 2.0, null),
        ratio("one worker: no contention", "cpu_ns", "atomic/1/1", "reduce/1", null, null)));
    if (w >= 32) p.claim(18, text, "cpu", note, List.of(ratio("all workers: at least ten times", "cpu_ns", atomics.getFirst(), reduced, 10.0, null)));
    else p.untestable(18, text, "this process may use " + w + " cores", "run on a machine with 32 cores or more");
    p.claim(19, "Of a counter behind a mutex, coarser updates are the remedy", "cpu", note, List.of(
        ratio("every 64th element against every one", "cpu_ns", mutexes.get(2), mutexes.getFirst(), null, 0.5), ratio("the same, wall time", "wall_ns", mutexes.get(2), mutexes.getFirst(), null, 0.5),
        report("by elements an update", "cpu_ns", mutexes)));
    p.claim(20, "Atomic updates that are rare are acceptable", "cpu", note, List.of(
        ratio("one for 4,096 elements costs less than 5 %", "cpu_ns", atomics.get(3), reduced, null, 1.05), report("by elements an update", "cpu_ns", atomics)));
    for (int t : COUNTS) {
      for (int every : new int[] {1, 8, 64, 4_096}) {
        p.arm("atomic/" + t + "/" + every, n, answer, (double) every, s -> { AtomicLong c = new AtomicLong(); return updated(s, n, t, every, c::addAndGet, c::get); });
        p.arm("mutex/" + t + "/" + every, n, answer, (double) every, s -> {
          long[] c = new long[1];
          return updated(s, n, t, every, part -> { synchronized (c) { c[0] += part; } }, () -> c[0]);
        });
      }
      p.arm("reduce/" + t, n, answer, null, s -> {
        s.start();
        long sum = within(t, () -> LongStream.range(0, n / BLOCK).parallel().map(b -> elements(b * BLOCK, (b + 1) * BLOCK)).sum());
        s.stop();
        return sum;
      });
    }
  }

  static void barriers(Program p) {
    int n = (int) p.size(8_192, 1_024);
    long answer = spins(n, 256);
    List<String> bounds = new ArrayList<>(), batches = new ArrayList<>();
    for (int layers = 2; layers <= 1_024; layers *= 8) {
      int many = layers, width = n / layers;
      String whole = "whole/" + layers, batch = "batches/" + layers;
      batches.add(batch);
      bounds.add(ratio(layers + " batches to one graph", "wall_ns", batch, whole, 1.0, null));
      bounds.add(ratio(layers + " batches to one graph, CPU time", "cpu_ns", batch, whole, null, null));
      for (boolean isWhole : new boolean[] {true, false}) p.arm(isWhole ? whole : batch, n, answer, (double) layers, s -> {
        long[] slots = new long[n];
        Graph graph = new Graph(n, i -> i >= width ? new int[] {i - width} : new int[0]);
        s.settle();
        s.start();
        if (isWhole) graph.run(pool(CORES), i -> slots[(int) i] = spin(i, 256));
        else for (int layer = 0; layer < many; layer++) { int from = layer * width; tasks(pool(CORES), width, x -> slots[from + (int) x] = spin(from + x, 256)); }
        s.stop();
        return LongStream.of(slots).sum();
      });
    }
    bounds.add(bound("slope", "what a barrier takes, of the sample", "wall_ns/sample", of("arms", batches), 0.0, null));
    p.claim(28, "One barrier beats many", "wall", "wall time; a task is 256 steps, about 0.4 us. whole: the last task before another forks it; batches: fork and join for each layer, which the caller waits for outside the pool", bounds);
  }

  static final ThreadLocal<int[]> LOCAL = ThreadLocal.withInitial(() -> new int[1]);
  static long called(Sample s, long calls, IntSupplier get) {
    return within(1, () -> { s.start(); long sum = 0; for (long i = 0; i < calls; i++) sum += get.getAsInt() >= 0 ? 1 : 0; s.stop(); return sum; });
  }
  static void worker(Program p) {
    long calls = p.size(1_000_000, 10_000), empty = p.size(10_000, 500);
    String one = "this_worker_id";
    p.claim(29, "this_worker_id() is a hash lookup, not a thread_local read, and fast enough for each task", "cpu", "tasks are calls of ForkJoinWorkerThread.getPoolIndex() of the current thread; a ThreadLocal is itself a look-up in a hash table", List.of(
        ratio("it costs what a get of a HashMap by thread costs", "cpu_ns", one, "hash_lookup", 0.5, 2.0), ratio("it costs more than a read of a ThreadLocal", "cpu_ns", one, "thread_local", 1.5, null),
        ratio("fast enough: less than an empty task", "cpu_ns", one, "empty_task", null, 1.0)));
    p.arm(one, calls, calls, null, s -> called(s, calls, () -> ((ForkJoinWorkerThread) Thread.currentThread()).getPoolIndex()));
    p.arm("hash_lookup", calls, calls, null, s -> {
      Map<Thread, Integer> ids = new HashMap<>();
      within(1, () -> ids.put(Thread.currentThread(), 0));
      return called(s, calls, () -> ids.get(Thread.currentThread()));
    });
    p.arm("thread_local", calls, calls, null, s -> called(s, calls, () -> LOCAL.get()[0]));
    p.arm("empty_task", empty, empty, null, s -> { LongAdder ran = new LongAdder(); s.start(); tasks(pool(1), empty, i -> ran.increment()); s.stop(); return ran.sum(); });
  }

  static void noise(Program p) {
    long n = p.size(500, 20), answer = spins(n, 10_000);
    p.claim(35, "The wall time of a single run is noisy at the few-percent level", "wall", "wall time of one run; a few percent is read as 1 to 10", List.of(
        bound("spread", "p90 of |one / other - 1|, wall time", "wall_ns", of("one", "one") + "," + of("other", "other"), 0.01, 0.1), bound("spread", "the same, CPU time", "cpu_ns", of("one", "one") + "," + of("other", "other"), null, null)));
    for (String name : List.of("one", "other")) p.arm(name, n, answer, null, s -> timed(s, CORES, n, 10_000, 0));
  }

  static void workers(Program p) {
    long n = p.size(64, 16) * CORES, steps = 50_000, answer = spins(n, steps);
    TreeSet<Integer> counts = new TreeSet<>(List.of(1, Math.max(1, CORES / 2), CORES, CORES + CORES / 2, 2 * CORES));
    List<String> bounds = new ArrayList<>(), busy = new ArrayList<>(), mixed = new ArrayList<>();
    for (int w : counts) {
      busy.add("busy/" + w);
      mixed.add("mixed/" + w);
      p.arm("busy/" + w, n, answer, (double) w, s -> timed(s, w, n, steps, 0));
      p.arm("mixed/" + w, n, answer, (double) w, s -> timed(s, w, n, steps, 50));
      if (w != CORES) bounds.add(noMore("busy/" + CORES, "busy/" + w));
    }
    bounds.add(ratio("tasks that wait: " + 2 * CORES + " workers take less than " + CORES, "wall_ns", "mixed/" + 2 * CORES, "mixed/" + CORES, null, 1.0));
    bounds.add(report("work alone, by workers", "wall_ns", busy));
    bounds.add(report("work and waiting, by workers", "wall_ns", mixed));
    p.claim(36, "As many workers as hardware threads is usually best for work on the CPU; for mixed work more may help", "wall", "wall time; a waiting task parks as long as it works, about 50 us", bounds);
  }

  record Group(List<Integer> claims, Consumer<Program> make) {}
  static final List<Group> GROUPS = List.of(new Group(List.of(9), ForkJoin::pools), new Group(List.of(10), ForkJoin::reuse), new Group(List.of(12), ForkJoin::smallest),
      new Group(List.of(13), ForkJoin::empty), new Group(List.of(14, 15, 16), ForkJoin::partitioners), new Group(List.of(17, 18, 19, 20), ForkJoin::counter),
      new Group(List.of(28), ForkJoin::barriers), new Group(List.of(29), ForkJoin::worker), new Group(List.of(35), ForkJoin::noise), new Group(List.of(36), ForkJoin::workers));

  public static void main(String[] words) { System.exit(run(words)); }
  static int run(String[] words) {
    Program options = new Program();
    int only = 0;
    try {
      options.quick = List.of(words).contains("--quick");
      if (options.quick) { options.rounds = 2; options.seconds = 2; }
      for (int i = 0; i < words.length; i++) switch (words[i]) {
        case "--quick" -> {}
        case "--help", "-h" -> { System.out.println(HELP); return 0; }
        case "--rounds" -> options.rounds = (long) number(words, ++i, 1);
        case "--seconds" -> options.seconds = number(words, ++i, 0);
        case "--claim" -> only = (int) number(words, ++i, 1);
        default -> throw new IllegalArgumentException("unknown option " + words[i]);
      }
      int asked = only;
      if (only != 0 && GROUPS.stream().noneMatch(g -> g.claims.contains(asked))) throw new IllegalArgumentException("--claim wants a claim of this program");
    } catch (IllegalArgumentException e) {
      System.err.println("error: " + e.getMessage() + "; --help lists the options");
      return 2;
    }
    for (Group group : GROUPS) {
      if (only != 0 && !group.claims.contains(only)) continue;
      Program p = new Program();
      p.quick = options.quick;
      p.rounds = options.rounds;
      p.seconds = options.seconds;
      group.make.accept(p);
      String wrong = p.run();
      if (wrong != null) { System.err.println("error: " + wrong); return 1; }
    }
    return 0;
  }
  static double number(String[] words, int i, double least) {
    if (i == words.length) throw new IllegalArgumentException(words[i - 1] + " needs a value");
    double value;
    try { value = Double.parseDouble(words[i]); } catch (NumberFormatException e) { value = Double.NaN; }
    if (!(value >= least && value <= 1e9)) throw new IllegalArgumentException(words[i - 1] + " wants a number from " + least + ", not " + words[i]);
    return value;
  }
  static final String HELP = """
      Usage: java ForkJoin.java [--claim N] [--rounds N] [--seconds S] [--quick]

        --claim N    one experiment: 9, 10, 12, 13, 14 to 16, 17 to 20, 28, 29, 35, 36
        --rounds N   rounds at most (40); a round has a sample of each arm
        --seconds S  begin no sample after so many seconds, the first rounds apart (5)
        --quick      smaller samples, two rounds

      Prints JSON Lines: claims, then samples. Status: 0 done, 1 a wrong answer, 2 bad options.""";

  // What follows is guide.hpp in Java: clocks, the kernel, loop profiles, bounds, rounds of interleaved arms.

  static final MethodHandle CLOCK;
  static {
    Linker linker = Linker.nativeLinker();
    CLOCK = linker.downcallHandle(linker.defaultLookup().find("clock_gettime").orElseThrow(), FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
  }
  static final MemorySegment TIME = Arena.global().allocate(16);
  static long clock(int which) {  // by one thread at a time
    try {
      int failed = (int) CLOCK.invokeExact(which, TIME);
      if (failed != 0) throw new IllegalStateException("clock_gettime");
    } catch (Throwable e) { throw new IllegalStateException(e); }
    return TIME.get(ValueLayout.JAVA_LONG, 0) * 1_000_000_000L + TIME.get(ValueLayout.JAVA_LONG, 8);
  }
  static long wall() { return clock(1); }
  static long cpu() { return clock(2); }
  static long others() { long own = clock(3); return cpu() - own; }

  static long splitmix(long s) {
    long z = s + 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
  static long spin(long i, long steps) {
    long x = splitmix(i);
    for (long s = 0; s < steps; s++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
    return x;
  }
  static long spins(long n, long steps) { long sum = 0; for (long i = 0; i < n; i++) sum += spin(i, steps); return sum; }
  static volatile long kept;
  static double stepNs = 0;
  static double stepNs() {
    for (int i = stepNs == 0 ? 0 : 50; i < 50; i++) {  // the shortest of fifty, of which the first are interpreted
      long from = cpu();
      kept = spin(i, 200_000);
      double took = (cpu() - from) / 200_000.0;
      stepNs = stepNs == 0 ? took : Math.min(stepNs, took);
    }
    return stepNs;
  }

  record Profile(String name, LongBinaryOperator at, long small, long large) {}
  // What element i of n does; the sums are those of every language's program, for 4,096 and 65,536 elements.
  static final List<Profile> PROFILES = List.of(
      new Profile("uniform", (i, n) -> spin(i, 64), Long.parseUnsignedLong("14386694264494772570"), Long.parseUnsignedLong("9472180545058376438")),
      new Profile("ramp", (i, n) -> spin(i, 128 * i / n), Long.parseUnsignedLong("14835103784405840294"), Long.parseUnsignedLong("17197121626017414055")),
      new Profile("bimodal", (i, n) -> spin(i, i % 64 == 63 ? 64 * 33 : 32), 1156649233370533118L, 2834354498727450142L),
      new Profile("primes", (i, n) -> {
        int m = (int) i + 1;
        if (m < 2) return 0;
        for (int d = 2; d * d <= m; d++) if (m % d == 0) return 0;
        return 1;
      }, 564, 6_542),
      new Profile("mandelbrot", (i, n) -> {
        long side = (long) Math.sqrt((double) n);
        double re = -2 + 3.0 * (i % side) / side, im = -1.5 + 3.0 * (i / side) / side, x = 0, y = 0;
        long count = 0;
        for (; count < 256 && x * x + y * y <= 4; count++) { double next = x * x - y * y + re; y = 2 * x * y + im; x = next; }
        return count;
      }, 197_192, 3_123_776));

  static String text(String s) { return '"' + s.replace("\\", "\\\\").replace("\"", "\\\"") + '"'; }
  static String of(String key, String value) { return text(key) + ":" + text(value); }
  static String of(String key, List<String> names) { return text(key) + ":[" + String.join(",", names.stream().map(ForkJoin::text).toList()) + "]"; }
  static String bound(String kind, String name, String metric, String arms, Double above, Double below) {
    boolean whole = metric.endsWith("/sample");
    return "{" + of("kind", kind) + "," + of("name", name) + "," + of("metric", whole ? metric.substring(0, metric.length() - 7) : metric) + "," + of("per", whole ? "sample" : "task") + "," + arms
        + (above == null ? "" : ",\"above\":" + above) + (below == null ? "" : ",\"below\":" + below) + "}";
  }
  static String ratio(String name, String metric, String one, String other, Double above, Double below) { return bound("ratio", name, metric, of("one", one) + "," + of("other", other), above, below); }
  static String noMore(String one, String other) { return bound("ratio", one + " takes no more than " + other, "wall_ns", of("one", one) + "," + of("other", other) + "," + of("tie", "holds"), null, 1.0); }
  static String slope(String name, String metric, List<String> arms, double above) { return bound("slope", name, metric, of("arms", arms), above, null); }
  static String report(String name, String metric, List<String> arms) { return bound("report", name, metric, of("arms", arms), null, null); }
  static String crossover(String name, String metric, List<String> ones, List<String> others, double scale, double level, Double above, Double below) {
    return bound("crossover", name, metric, of("ones", ones) + "," + of("others", others) + ",\"scale\":" + scale + ",\"level\":" + level, above, below);
  }

  static final class Sample {
    long cpuNs, wallNs, cpuFrom, wallFrom, others;
    void start() { wallFrom = wall(); cpuFrom = cpu(); }
    void stop() { long c = cpu(), w = wall(); cpuNs += c - cpuFrom; wallNs += w - wallFrom; others = others(); }
    // Waits until idle workers have ceased to spin, a tenth of a second at most: what they use belongs to no arm. Returns it.
    long settle() {
      long last = others();
      for (int i = 0; i < 100; i++) {
        try { Thread.sleep(1); } catch (InterruptedException e) { throw new IllegalStateException(e); }
        long now = others();
        if (now - last < 5_000) break;
        last = now;
      }
      return Math.max(0, last - others);
    }
  }
  record Arm(String name, long tasks, long answer, Double x, ToLongFunction<Sample> run) {}

  static final class Program {
    // The compiler of the JVM is at work meanwhile: rounds that are not told, until so many seconds are over.
    static final double WARM_UP_S = 1.5;
    boolean quick;
    long rounds = 40;
    double seconds = 5;
    final List<String> claims = new ArrayList<>();
    final List<Arm> arms = new ArrayList<>();
    int number = 0;
    long size(long full, long small) { return quick ? small : full; }
    void claim(int claim, String words, String clock, String note, List<String> bounds) {
      if (number == 0) number = claim;
      claims.add("{\"claim\":" + claim + "," + of("text", words) + "," + of("clock", clock) + ",@," + of("note", note) + ",\"bounds\":[" + String.join(",", bounds) + "]}");
    }
    void untestable(int claim, String words, String why, String remedy) {
      claim(claim, words, "cpu", "", List.of());
      claims.add("{\"claim\":" + claim + "," + of("untestable", why) + "," + of("remedy", remedy) + "}");
    }
    void arm(String name, long tasks, long answer, Double x, ToLongFunction<Sample> run) { arms.add(new Arm(name, tasks, answer, x, run)); }
    String run() {
      List<String> heads = arms.stream().map(a -> "{" + of("name", a.name) + ",\"tasks\":" + a.tasks + ",\"answer\":" + Long.toUnsignedString(a.answer) + (a.x == null ? "" : ",\"x\":" + a.x) + "}").toList();
      String more = of("library", "ForkJoin") + "," + of("version", "JDK " + Runtime.version().feature()) + "," + of("compiler", System.getProperty("java.vm.version")) + ",\"cores\":" + CORES + ",\"arms\":[" + String.join(",", heads) + "]";
      for (String claim : claims) if (!say(claim.replace(",@,", "," + more + ","))) return "standard output cannot be written";
      long warm = wall();
      do for (Arm arm : arms) arm.run.applyAsLong(new Sample()); while (!quick && (wall() - warm) / 1e9 < WARM_UP_S);
      long began = wall();
      for (long round = 0; round < rounds; round++) {
        for (Arm arm : arms) {
          if (round > 0 && (wall() - began) / 1e9 >= seconds) return null;
          Sample s = new Sample();
          long answer = arm.run.applyAsLong(s), tail = s.settle();
          if (answer != arm.answer) return "arm " + arm.name + " gave " + Long.toUnsignedString(answer) + ", not " + Long.toUnsignedString(arm.answer);
          if (!say("{\"claim\":" + number + "," + of("arm", arm.name) + ",\"round\":" + round + ",\"tasks\":" + arm.tasks + ",\"cpu_ns\":" + s.cpuNs + ",\"wall_ns\":" + s.wallNs + ",\"answer\":" + Long.toUnsignedString(answer) + ",\"tail_cpu_ns\":" + tail + "}")) return "standard output cannot be written";
        }
        Collections.reverse(arms);
      }
      return null;
    }
    static boolean say(String line) { System.out.println(line); return !System.out.checkError(); }
  }
}
