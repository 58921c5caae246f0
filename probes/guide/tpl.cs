#!/usr/bin/env -S dotnet run
// Claims 9; 10; 12; 13; 14 to 16; 17 to 20; 28; 29; 35; 36 of Taskflow's guide, by the Task Parallel Library of .NET.
//   dotnet run tpl.cs -- --claim 12        (.NET 10 or newer)
// Code is compiled once and for good, so that no sample is of code that a later one has better.
#:property TieredCompilation=false
#:property PublishAot=false
#:property InvariantGlobalization=true
using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using static Guide;

(int[] Claims, Action<Experiment> Make)[] groups = [
    ([9], Pools), ([10], Reuse), ([12], Smallest), ([13], Empty), ([14, 15, 16], Partitioners), ([17, 18, 19, 20], Counter),
    ([28], Barriers), ([29], Worker), ([35], Noise), ([36], Workers)];
bool quick = args.Contains("--quick");
double rounds = quick ? 2 : 40, seconds = quick ? 2 : 5;
int only = 0;
try {
    for (int i = 0; i < args.Length; i++) switch (args[i]) {
        case "--quick": break;
        case "--help" or "-h": Console.WriteLine(Help); return 0;
        case "--rounds": rounds = Number(args, ++i, 1); break;
        case "--seconds": seconds = Number(args, ++i, 0); break;
        case "--claim": only = (int)Number(args, ++i, 1); break;
        default: throw new ArgumentException("unknown option " + args[i]);
    }
    if (only != 0 && !groups.Any(group => group.Claims.Contains(only))) throw new ArgumentException("--claim wants a claim of this program");
} catch (ArgumentException e) {
    Console.Error.WriteLine($"error: {e.Message}; --help lists the options");
    return 2;
}
// The pool has as many threads as the most workers of claim 36; it would else add one in half a second.
ThreadPool.SetMinThreads(2 * Cores, 1);
foreach (var group in groups.Where(group => only == 0 || group.Claims.Contains(only))) {
    var experiment = new Experiment(quick, (long)rounds, seconds);
    group.Make(experiment);
    if (experiment.Run() is string wrong) { Console.Error.WriteLine("error: " + wrong); return 1; }
}
return 0;

static class Guide {
    public static readonly int Cores = Environment.ProcessorCount;
    static readonly int[] Counts = Cores > 1 ? [1, Cores] : [1];
    const string OnePool = "the pool of .NET is one for the process: no call starts or ends its threads";

    public static void Pools(Experiment p) => p.Untestable(9, "An executor costs on the order of 100 us or more per thread", OnePool, "");
    public static void Reuse(Experiment p) => p.Untestable(10, "Reuse the executor: its construction can dominate short computations", OnePool, "");

    // n tasks, created by a task.
    static void Tasks(long n, Action<long> body) => Task.Run(async () => {
        var all = new Task[n];
        for (long i = 0; i < n; i++) { long at = i; all[i] = Task.Run(() => body(at)); }
        await Task.WhenAll(all);
    }).GetAwaiter().GetResult();
    static ulong Timed(Sample s, long n, long steps) {
        var slots = new ulong[n];
        s.Start();
        Tasks(n, i => slots[i] = Spin((ulong)i, steps));
        s.Stop();
        return Total(slots);
    }

    public static void Smallest(Experiment p) {
        long budget = p.Size(4_000_000, 200_000), longest = p.Size(65_536, 2_048);
        List<string> bounds = [], serial = [], tasks = [];
        for (long s = 32; s <= longest; s *= 2) { serial.Add($"loop/{s}"); tasks.Add($"tasks/{Cores}/{s}"); }
        foreach (int percent in (int[])[50, 90, 95]) {
            (double?, double?) claimed = percent == 90 ? (10e3, 100e3) : (null, null);
            bounds.Add(Crossover($"{percent} %, {Cores} workers", "wall_ns", serial, tasks, 1.0 / Cores, percent / 100.0, claimed));
            bounds.Add(Crossover($"{percent} %, {Cores} workers, CPU time", "cpu_ns", serial, tasks, 1, percent / 100.0, claimed));
        }
        p.Claim(12, "Each task should represent at least 10 to 100 us of work", "cpu", "the axis is the length of a task in ns; efficiency is the time of a plain loop over that of the tasks (claim 12 of Taskflow). Tasks are created within the timed part, by Task.Run within a task. The pool takes no limit below the number of CPUs", bounds);
        for (long s = 32; s <= longest; s *= 2) {
            long steps = s, n = Math.Max(budget / s, 2 * Cores);
            ulong answer = Spins(n, s);
            p.Arm($"loop/{s}", n, answer, s * StepNs, sample => {
                var slots = new ulong[n];
                sample.Start();
                for (long i = 0; i < n; i++) slots[i] = Spin((ulong)i, steps);
                sample.Stop();
                return Total(slots);
            });
            p.Arm($"tasks/{Cores}/{s}", n, answer, s * StepNs, sample => Timed(sample, n, steps));
        }
    }

    // Tasks with those that come after them: the last one before a task starts it.
    sealed class Graph {
        readonly List<int>[] after;
        readonly int[] waits;
        public Graph(int n, Func<int, int[]> before) {
            after = [.. Enumerable.Range(0, n).Select(_ => new List<int>())];
            waits = new int[n];
            for (int i = 0; i < n; i++) foreach (int j in before(i)) { after[j].Add(i); waits[i]++; }
        }
        public void Run(Action<long> body) {
            using var left = new CountdownEvent(after.Length);
            void Go(int i) {
                body(i);
                foreach (int j in after[i]) if (Interlocked.Decrement(ref waits[j]) == 0) Task.Run(() => Go(j));
                left.Signal();
            }
            int[] first = [.. Enumerable.Range(0, after.Length).Where(i => waits[i] == 0)];
            Task.Run(() => { foreach (int i in first) Task.Run(() => Go(i)); });
            left.Wait();
        }
    }
    // The tasks before task i, by shape, as in claim 13 of Taskflow.
    static int[] Before(string shape, int n, int i) {
        int width = (int)Math.Sqrt(n);
        return shape switch {
            "chain" when i > 0 => [i - 1],
            "tree" when i > 0 => [(i - 1) / 2],
            "wavefront" => (i % width > 0, i >= width) switch { (true, true) => [i - 1, i - width], (true, false) => [i - 1], (false, true) => [i - width], _ => [] },
            _ => [],
        };
    }
    public static void Empty(Experiment p) {
        int n = (int)p.Size(10_000, 400);
        List<string> bounds = [];
        foreach (string shape in (string[])["independent", "chain", "tree", "wavefront"]) {
            string name = $"run/{shape}/{Cores}";
            p.Arm(name, n, (ulong)n, null, s => {
                var done = new bool[n];
                long right = 0;
                new Graph(n, i => Before(shape, n, i)).Run(i => {  // the check, outside the timed part
                    if (Before(shape, n, (int)i).All(j => Volatile.Read(ref done[j]))) Interlocked.Increment(ref right);
                    Volatile.Write(ref done[i], true);
                });
                var graph = new Graph(n, i => Before(shape, n, i));
                s.Settle();
                s.Start();
                graph.Run(_ => { });
                s.Stop();
                return (ulong)right;
            });
            bounds.Add(Report($"{shape}, an empty task", "cpu_ns", [name]));
            bounds.Add(Report($"{shape}, an empty task, wall time", "wall_ns", [name]));
        }
        p.Claim(13, "Empty tasks show the pure overhead of construction and scheduling, at the target worker count", "cpu", "always reported: the claim names no figure. The last task before another starts it by Task.Run, by a counter; the counters are made before", bounds);
    }

    static readonly string[] Policies = ["static", "parallel_for", "range", "chunk/1", "chunk/64"];
    static void Each(string policy, int n, Action<long> body) {
        var options = new ParallelOptions { MaxDegreeOfParallelism = Cores };
        void Part(long from, long to) { for (long i = from; i < to; i++) body(i); }
        switch (policy) {
            case "static": Parallel.For(0, Cores, options, part => Part((long)part * n / Cores, (part + 1L) * n / Cores)); break;
            case "range": Parallel.ForEach(Partitioner.Create(0, n), options, range => Part(range.Item1, range.Item2)); break;
            case "chunk/1": Parallel.ForEach(Partitioner.Create(Enumerable.Range(0, n), EnumerablePartitionerOptions.NoBuffering), options, i => body(i)); break;
            case "chunk/64": Parallel.ForEach(Partitioner.Create(0, n, 64), options, range => Part(range.Item1, range.Item2)); break;
            default: Parallel.For(0, n, options, i => body(i)); break;
        }
    }
    public static void Partitioners(Experiment p) {
        int n = (int)p.Size(65_536, 4_096);
        const string note = "wall time, since idle workers are what a bad partition costs; parallel_for is Parallel.For, whose chunks grow; range is Partitioner.Create(0, n), chunk/64 the same with pieces of 64, chunk/1 a partitioner without buffer; static gives each worker an equal part";
        List<string> c14 = [], c15 = [], c16 = [];
        foreach (var profile in Profiles) {
            string[] names = [.. Policies.Select(policy => $"{profile.Name}/{policy}")];
            bool isUniform = profile.Name == "uniform";
            string one = names[isUniform ? 0 : 4], usual = names[1];
            foreach (string policy in Policies) {
                string name = $"{profile.Name}/{policy}";
                p.Arm(name, n, n == 65_536 ? profile.Large : profile.Small, null, s => {
                    var results = new ulong[n];
                    s.Start();
                    Each(policy, n, i => results[i] = profile.At((ulong)i, (ulong)n));
                    s.Stop();
                    return Total(results);
                });
                if (name != one) (isUniform ? c14 : c15).Add(NoMore(one, name));
                if (name != usual) c16.Add(Ratio($"{usual}: at most 20 % more than {name}", "wall_ns", usual, name, (null, 1.2)));
            }
            c16.Add(Report("by policy", "wall_ns", names));
        }
        p.Claim(14, "Static partitioning is best for uniform work", "wall", note, c14);
        p.Claim(15, "Dynamic with a small chunk is best for irregular work", "wall", note, c15);
        p.Claim(16, "Guided, the default, is reasonable in most cases", "wall", note + ". The default is parallel_for; reasonable is read as at most 20 % slower than the best", c16);
    }

    const long Block = 4_096;
    [MethodImpl(MethodImplOptions.NoInlining)] static ulong Element(long i) => Splitmix((ulong)i);
    static ulong Elements(long from, long to) { ulong sum = 0; for (long i = from; i < to; i++) sum += Element(i); return sum; }
    static void Updated(Sample s, long n, int w, long every, Action<ulong> add) {
        s.Start();
        Parallel.For(0, n / Block, new ParallelOptions { MaxDegreeOfParallelism = w }, block => {
            for (long from = block * Block; from < (block + 1) * Block; from += every) add(Elements(from, from + every));
        });
        s.Stop();
    }
    public static void Counter(Experiment p) {
        long n = p.Size(1 << 20, 1 << 16);
        ulong answer = Elements(0, n);
        const string note = "as claims 17 to 20 of Taskflow. The reduction is Parallel.For with a sum for each thread, over blocks of 4,096; the mutex is lock";
        long[] everies = [1, 8, 64, 4_096];
        string[] atomics = [.. everies.Select(every => $"atomic/{Cores}/{every}")], mutexes = [.. everies.Select(every => $"mutex/{Cores}/{every}")];
        string reduced = $"reduce/{Cores}", text = "... especially at 32 and more cores";
        p.Claim(17, "An atomic add for each element is far slower than a reduction by index", "cpu", note, [
            Ratio("all workers, loop over blocks: at least twice", "cpu_ns", atomics[0], reduced, (2, null)), Ratio("all workers, wall time", "wall_ns", atomics[0], reduced, (2, null)),
            Ratio("one worker: no contention", "cpu_ns", "atomic/1/1", "reduce/1", (null, null))]);
        if (Cores >= 32) p.Claim(18, text, "cpu", note, [Ratio("all workers: at least ten times", "cpu_ns", atomics[0], reduced, (10, null))]);
        else p.Untestable(18, text, $"this process may use {Cores} cores", "run on a machine with 32 cores or more");
        p.Claim(19, "Of a counter behind a mutex, coarser updates are the remedy", "cpu", note, [
            Ratio("every 64th element against every one", "cpu_ns", mutexes[2], mutexes[0], (null, 0.5)), Ratio("the same, wall time", "wall_ns", mutexes[2], mutexes[0], (null, 0.5)),
            Report("by elements an update", "cpu_ns", mutexes)]);
        p.Claim(20, "Atomic updates that are rare are acceptable", "cpu", note, [
            Ratio("one for 4,096 elements costs less than 5 %", "cpu_ns", atomics[3], reduced, (null, 1.05)), Report("by elements an update", "cpu_ns", atomics)]);
        foreach (int t in Counts) {
            foreach (long every in everies) {
                p.Arm($"atomic/{t}/{every}", n, answer, every, s => { ulong c = 0; Updated(s, n, t, every, part => Interlocked.Add(ref c, part)); return c; });
                p.Arm($"mutex/{t}/{every}", n, answer, every, s => { ulong c = 0; var gate = new Lock(); Updated(s, n, t, every, part => { lock (gate) c += part; }); return c; });
            }
            p.Arm($"reduce/{t}", n, answer, null, s => {
                ulong sum = 0;
                s.Start();
                Parallel.For(0, n / Block, new ParallelOptions { MaxDegreeOfParallelism = t }, () => 0UL, (b, _, own) => own + Elements(b * Block, (b + 1) * Block), own => Interlocked.Add(ref sum, own));
                s.Stop();
                return sum;
            });
        }
    }

    public static void Barriers(Experiment p) {
        int n = (int)p.Size(8_192, 1_024);
        ulong answer = Spins(n, 256);
        List<string> bounds = [], batches = [];
        for (int layers = 2; layers <= 1_024; layers *= 8) {
            int many = layers, width = n / layers;
            string whole = $"whole/{layers}", batch = $"batches/{layers}";
            batches.Add(batch);
            bounds.Add(Ratio($"{layers} batches to one graph", "wall_ns", batch, whole, (1, null)));
            bounds.Add(Ratio($"{layers} batches to one graph, CPU time", "cpu_ns", batch, whole, (null, null)));
            foreach (bool isWhole in (bool[])[true, false]) p.Arm(isWhole ? whole : batch, n, answer, layers, s => {
                var slots = new ulong[n];
                var graph = new Graph(n, i => i >= width ? [i - width] : []);
                s.Settle();
                s.Start();
                if (isWhole) graph.Run(i => slots[i] = Spin((ulong)i, 256));
                else for (int layer = 0; layer < many; layer++) { int from = layer * width; Tasks(width, x => slots[from + x] = Spin((ulong)(from + x), 256)); }
                s.Stop();
                return Total(slots);
            });
        }
        bounds.Add(Bound("slope", "what a barrier takes, of the sample", "wall_ns/sample", Of("arms", batches), (0, null)));
        p.Claim(28, "One barrier beats many", "wall", "wall time; a task is 256 steps, about 0.4 us. whole: the last task before another starts it; batches: Task.WhenAll for each layer, which the caller waits for outside the pool", bounds);
    }

    [ThreadStatic] static int local;
    static ulong Called(Sample s, long calls, Func<int> get) => Task.Run(() => {
        ulong sum = 0;
        local = 1;
        s.Start();
        for (long i = 0; i < calls; i++) sum += get() > 0 ? 1UL : 0;
        s.Stop();
        return sum;
    }).GetAwaiter().GetResult();
    public static void Worker(Experiment p) {
        long calls = p.Size(1_000_000, 10_000), empty = p.Size(10_000, 500);
        const string one = "this_worker_id";
        p.Claim(29, "this_worker_id() is a hash lookup, not a thread_local read, and fast enough for each task", "cpu", "workers of the pool have no number: tasks are calls of Environment.CurrentManagedThreadId, each by a delegate", [
            Ratio("it costs what a look-up in a Dictionary by thread id costs", "cpu_ns", one, "hash_lookup", (0.5, 2)), Ratio("it costs more than a read of a ThreadStatic", "cpu_ns", one, "thread_local", (1.5, null)),
            Ratio("fast enough: less than an empty task", "cpu_ns", one, "empty_task", (null, 1))]);
        p.Arm(one, calls, (ulong)calls, null, s => Called(s, calls, () => Environment.CurrentManagedThreadId));
        p.Arm("hash_lookup", calls, (ulong)calls, null, s => {
            Dictionary<int, int> ids = [];
            return Called(s, calls, () => {
                int id = Environment.CurrentManagedThreadId;
                if (ids.TryGetValue(id, out int at)) return at;
                return ids[id] = 1;
            });
        });
        p.Arm("thread_local", calls, (ulong)calls, null, s => Called(s, calls, () => local));
        p.Arm("empty_task", empty, (ulong)empty, null, s => { long ran = 0; s.Start(); Tasks(empty, _ => Interlocked.Increment(ref ran)); s.Stop(); return (ulong)ran; });
    }

    public static void Noise(Experiment p) {
        long n = p.Size(500, 20);
        ulong answer = Spins(n, 10_000);
        string pair = Of("one", "one") + "," + Of("other", "other");
        p.Claim(35, "The wall time of a single run is noisy at the few-percent level", "wall", "wall time of one run; a few percent is read as 1 to 10", [
            Bound("spread", "p90 of |one / other - 1|, wall time", "wall_ns", pair, (0.01, 0.1)), Bound("spread", "the same, CPU time", "cpu_ns", pair, (null, null))]);
        foreach (string name in (string[])["one", "other"]) p.Arm(name, n, answer, null, s => Timed(s, n, 10_000));
    }

    public static void Workers(Experiment p) {
        long n = p.Size(64, 16) * Cores, steps = 50_000;
        ulong answer = Spins(n, steps);
        List<string> bounds = [], busy = [], mixed = [];
        foreach (int w in new SortedSet<int> { 1, Math.Max(1, Cores / 2), Cores, Cores + Cores / 2, 2 * Cores }) {
            foreach (bool waits in (bool[])[false, true]) {
                string name = $"{(waits ? "mixed" : "busy")}/{w}";
                (waits ? mixed : busy).Add(name);
                p.Arm(name, n, answer, w, s => {
                    var slots = new ulong[n];
                    s.Settle();
                    s.Start();
                    Parallel.ForEach(Partitioner.Create(0, n, 1), new ParallelOptions { MaxDegreeOfParallelism = w }, range => {
                        slots[range.Item1] = Spin((ulong)range.Item1, steps);
                        if (waits) Nap(50_000);
                    });
                    s.Stop();
                    return Total(slots);
                });
            }
            if (w != Cores) bounds.Add(NoMore($"busy/{Cores}", $"busy/{w}"));
        }
        bounds.Add(Ratio($"tasks that wait: {2 * Cores} workers take less than {Cores}", "wall_ns", $"mixed/{2 * Cores}", $"mixed/{Cores}", (null, 1)));
        bounds.Add(Report("work alone, by workers", "wall_ns", busy));
        bounds.Add(Report("work and waiting, by workers", "wall_ns", mixed));
        p.Claim(36, "As many workers as hardware threads is usually best for work on the CPU; for mixed work more may help", "wall", "wall time; a waiting task sleeps as long as it works, about 50 us. Workers are MaxDegreeOfParallelism of Parallel.ForEach", bounds);
    }

    public const string Help = """
        Usage: dotnet run tpl.cs -- [--claim N] [--rounds N] [--seconds S] [--quick]

          --claim N    one experiment: 9, 10, 12, 13, 14 to 16, 17 to 20, 28, 29, 35, 36
          --rounds N   rounds at most (40); a round has a sample of each arm
          --seconds S  begin no sample after so many seconds, the first rounds apart (5)
          --quick      smaller samples, two rounds

        Prints JSON Lines: claims, then samples. Status: 0 done, 1 a wrong answer, 2 bad options.
        """;
    public static double Number(string[] words, int i, double least) {
        if (i == words.Length) throw new ArgumentException(words[i - 1] + " needs a value");
        bool isNumber = double.TryParse(words[i], NumberStyles.Float, CultureInfo.InvariantCulture, out double value);
        return isNumber && value >= least && value <= 1e9 ? value : throw new ArgumentException($"{words[i - 1]} wants a number from {least}, not {words[i]}");
    }

    // What follows is guide.hpp in C#: clocks, the kernel, loop profiles, bounds, rounds of interleaved arms.

    struct Timespec { public long S, Ns; }
    [DllImport("libc")] static extern int clock_gettime(int clock, out Timespec time);
    [DllImport("libc")] static extern int nanosleep(ref Timespec time, IntPtr rest);
    static void Nap(long ns) { var time = new Timespec { Ns = ns }; _ = nanosleep(ref time, 0); }
    static long Clock(int clock) => clock_gettime(clock, out var time) == 0 ? time.S * 1_000_000_000 + time.Ns : throw new InvalidOperationException("clock_gettime");
    public static long Wall() => Clock(1);
    public static long Cpu() => Clock(2);
    public static long Others() { long own = Clock(3); return Cpu() - own; }

    static ulong Splitmix(ulong s) {
        ulong z = s + 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    [MethodImpl(MethodImplOptions.NoInlining)]
    static ulong Spin(ulong i, long steps) {
        ulong x = Splitmix(i);
        for (long s = 0; s < steps; s++) { x ^= x << 13; x ^= x >> 7; x ^= x << 17; }
        return x;
    }
    static ulong Spins(long n, long steps) { ulong sum = 0; for (long i = 0; i < n; i++) sum += Spin((ulong)i, steps); return sum; }
    static ulong Total(ulong[] slots) { ulong sum = 0; foreach (ulong slot in slots) sum += slot; return sum; }
    static volatile int kept;
    static double StepNs => stepNs.Value;
    static readonly Lazy<double> stepNs = new(() => Enumerable.Range(0, 5).Min(i => { long from = Cpu(); kept = (int)Spin((ulong)i, 200_000); return (Cpu() - from) / 200_000.0; }));

    record Profile(string Name, Func<ulong, ulong, ulong> At, ulong Small, ulong Large);
    // What element i of n does; the sums are those of every language's program, for 4,096 and 65,536 elements.
    static readonly Profile[] Profiles = [
        new("uniform", (i, n) => Spin(i, 64), 14386694264494772570, 9472180545058376438),
        new("ramp", (i, n) => Spin(i, (long)(128 * i / n)), 14835103784405840294, 17197121626017414055),
        new("bimodal", (i, n) => Spin(i, i % 64 == 63 ? 64 * 33 : 32), 1156649233370533118, 2834354498727450142),
        new("primes", (i, n) => {
            uint m = (uint)i + 1;
            if (m < 2) return 0;
            for (uint d = 2; d * d <= m; d++) if (m % d == 0) return 0;
            return 1;
        }, 564, 6_542),
        new("mandelbrot", (i, n) => {
            ulong side = (ulong)Math.Sqrt(n), count = 0;
            double re = -2 + 3.0 * (i % side) / side, im = -1.5 + 3.0 * (i / side) / side, x = 0, y = 0;
            for (; count < 256 && x * x + y * y <= 4; count++) { double next = x * x - y * y + re; y = 2 * x * y + im; x = next; }
            return count;
        }, 197_192, 3_123_776)];

    public static string Text(string s) => '"' + s.Replace("\\", "\\\\").Replace("\"", "\\\"") + '"';
    public static string Of(string key, string value) => Text(key) + ":" + Text(value);
    static string Of(string key, IEnumerable<string> names) => $"{Text(key)}:[{string.Join(",", names.Select(Text))}]";
    static string Bound(string kind, string name, string metric, string arms, (double? Above, double? Below) range) {
        bool whole = metric.EndsWith("/sample", StringComparison.Ordinal);
        string above = range.Above is double a ? FormattableString.Invariant($",\"above\":{a}") : "", below = range.Below is double b ? FormattableString.Invariant($",\"below\":{b}") : "";
        return $"{{{Of("kind", kind)},{Of("name", name)},{Of("metric", whole ? metric[..^7] : metric)},{Of("per", whole ? "sample" : "task")},{arms}{above}{below}}}";
    }
    static string Ratio(string name, string metric, string one, string other, (double?, double?) range) => Bound("ratio", name, metric, Of("one", one) + "," + Of("other", other), range);
    static string NoMore(string one, string other) => Bound("ratio", $"{one} takes no more than {other}", "wall_ns", Of("one", one) + "," + Of("other", other) + "," + Of("tie", "holds"), (null, 1));
    static string Report(string name, string metric, IEnumerable<string> arms) => Bound("report", name, metric, Of("arms", arms), (null, null));
    static string Crossover(string name, string metric, List<string> ones, List<string> others, double scale, double level, (double?, double?) range) =>
        Bound("crossover", name, metric, FormattableString.Invariant($"{Of("ones", ones)},{Of("others", others)},\"scale\":{scale},\"level\":{level}"), range);
}

sealed class Sample {
    public long CpuNs, WallNs;
    long cpuFrom, wallFrom, others;
    public void Start() { wallFrom = Wall(); cpuFrom = Cpu(); }
    public void Stop() { long c = Cpu(), w = Wall(); CpuNs += c - cpuFrom; WallNs += w - wallFrom; others = Others(); }
    // Waits until idle workers have ceased to spin, a tenth of a second at most: what they use belongs to no arm. Returns it.
    public long Settle() {
        long last = Others();
        for (int i = 0; i < 100; i++) {
            Thread.Sleep(1);
            long now = Others();
            if (now - last < 5_000) break;
            last = now;
        }
        return Math.Max(0, last - others);
    }
}

sealed class Experiment(bool quick, long rounds, double seconds) {
    readonly List<string> claims = [];
    readonly List<(string Name, long Tasks, ulong Answer, double? X, Func<Sample, ulong> Run)> arms = [];
    int number = 0;
    public long Size(long full, long small) => quick ? small : full;
    public void Claim(int claim, string words, string clock, string note, IEnumerable<string> bounds) {
        if (number == 0) number = claim;
        claims.Add($"{{\"claim\":{claim},{Of("text", words)},{Of("clock", clock)},@,{Of("note", note)},\"bounds\":[{string.Join(",", bounds)}]}}");
    }
    // A claim that this machine, or this library, cannot test. Without a remedy it does not apply.
    public void Untestable(int claim, string words, string why, string remedy) {
        Claim(claim, words, "cpu", "", []);
        claims.Add($"{{\"claim\":{claim},{Of("untestable", why)},{Of("remedy", remedy)}}}");
    }
    public void Arm(string name, long tasks, ulong answer, double? x, Func<Sample, ulong> run) => arms.Add((name, tasks, answer, x, run));
    public string? Run() {
        var heads = arms.Select(a => $"{{{Of("name", a.Name)},\"tasks\":{a.Tasks},\"answer\":{a.Answer}{(a.X is double x ? FormattableString.Invariant($",\"x\":{x}") : "")}}}");
        string more = $"{Of("library", "TPL")},{Of("version", ".NET " + Environment.Version)},{Of("compiler", RuntimeInformation.FrameworkDescription)},\"cores\":{Cores},\"arms\":[{string.Join(",", heads)}]";
        foreach (string claim in claims) if (!Say(claim.Replace(",@,", $",{more},"))) return "standard output cannot be written";
        long began = Wall();
        for (long round = 0; round < rounds; round++) {
            foreach (var arm in arms) {
                if (round > 0 && (Wall() - began) / 1e9 >= seconds) return null;
                if (round == 0) arm.Run(new Sample());
                var s = new Sample();
                ulong answer = arm.Run(s);
                long tail = s.Settle();
                if (answer != arm.Answer) return $"arm {arm.Name} gave {answer}, not {arm.Answer}";
                if (!Say($"{{\"claim\":{number},{Of("arm", arm.Name)},\"round\":{round},\"tasks\":{arm.Tasks},\"cpu_ns\":{s.CpuNs},\"wall_ns\":{s.WallNs},\"answer\":{answer},\"tail_cpu_ns\":{tail}}}")) return "standard output cannot be written";
            }
            arms.Reverse();
        }
        return null;
    }
    static bool Say(string line) {
        try { Console.Out.WriteLine(line); Console.Out.Flush(); return true; } catch (IOException) { return false; }
    }
}
