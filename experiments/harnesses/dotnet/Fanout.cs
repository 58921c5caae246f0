using System.Globalization;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;

// bench FORM WARM-UP MEASURED: CPU and wall ns per task, medians over that many iterations of 600 invocations each. Only this
// toolchain works without a network: the default one restores packages, prints NA where it cannot, and still ends with status 0.
int measured = int.Parse(args[2]);
var job = Job.Default.WithToolchain(InProcessEmitToolchain.Instance).WithGcForce(false).WithEvaluateOverhead(false)
    .WithInvocationCount(Fanout.Invocations).WithUnrollFactor(1).WithWarmupCount(int.Parse(args[1])).WithIterationCount(measured);
Summary summary = BenchmarkRunner.Run<Fanout>(
    ManualConfig.CreateEmpty().AddJob(job).AddLogger(NullLogger.Instance)
        .AddFilter(new BenchmarkDotNet.Filters.NameFilter(name => name == args[0])));
var walls = summary.Reports.Single().AllMeasurements
    .Where(one => one.IterationStage == BenchmarkDotNet.Engines.IterationStage.Actual
        && one.IterationMode == BenchmarkDotNet.Engines.IterationMode.Workload)
    .Select(one => one.Nanoseconds / one.Operations / Fanout.Size);
// Each iteration adds its CPU time; those of the warm-up come first.
var cpus = Fanout.CpuNs.TakeLast(measured).Select(ns => (double)ns / Fanout.Invocations / Fanout.Size);
Console.WriteLine(string.Create(CultureInfo.InvariantCulture, $"{Median(cpus)} {Median(walls)}"));

static double Median(IEnumerable<double> values) {
    double[] sorted = [.. values.Order()];
    return (sorted[(sorted.Length - 1) / 2] + sorted[sorted.Length / 2]) / 2;
}

/// <summary>
/// The workload <c>fanout</c>, ordered, 2,048 tasks, written by hand: none of the probe's classes, so that whatever the
/// probe's machinery added per task would show as a difference.
/// </summary>
public class Fanout {
    public const int Size = 2048, Invocations = 600;
    public static readonly List<long> CpuNs = [];
    private long started;

    [IterationSetup]
    public void Start() => started = Cpu();

    [IterationCleanup]
    public void Stop() => CpuNs.Add(Cpu() - started);

    [Benchmark]
    public long Run() => Sum(Task.WhenAll(Started()).Result);

    [Benchmark]
    public long RunInPool() => Task.Run(async () => Sum(await Task.WhenAll(Started()))).Result;

    [Benchmark]
    public long Yield() => Task.Run(async () => {
        var tasks = new Task<long>[Size];
        for (int i = 0; i < Size; i++) tasks[i] = Yielding(i);
        return Sum(await Task.WhenAll(tasks));
    }).Result;

    [Benchmark]
    public long WorkItem() {
        var all = new Shared();
        for (int i = 0; i < Size; i++) ThreadPool.UnsafeQueueUserWorkItem(new Item(all, i), preferLocal: false);
        all.Left.Wait();
        return Sum(all.Results);
    }

    private static Task<long>[] Started() {
        var tasks = new Task<long>[Size];
        for (int i = 0; i < Size; i++) {
            int task = i;
            tasks[i] = Task.Run(() => Product(task));
        }
        return tasks;
    }

    private static async Task<long> Yielding(int i) {
        await Task.Yield();
        return Product(i);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static long Product(long i) => 31 * i;

    private static long Sum(long[] results) {
        long sum = 0;
        foreach (long result in results) sum += result;
        if (sum != 31L * Size * (Size - 1) / 2) throw new InvalidOperationException($"the results add up to {sum}");
        return sum;
    }

    private sealed class Shared {
        public readonly long[] Results = new long[Size];
        public readonly CountdownEvent Left = new(Size);
    }

    private sealed class Item(Shared all, int i) : IThreadPoolWorkItem {
        public void Execute() {
            all.Results[i] = Product(i);
            all.Left.Signal();
        }
    }

    private static long Cpu() {
        clock_gettime(2, out Timespec time);
        return time.Seconds * 1_000_000_000 + time.Nanoseconds;
    }

    private struct Timespec {
        public nint Seconds;
        public nint Nanoseconds;
    }

    [DllImport("libc")]
    private static extern int clock_gettime(int clock, out Timespec time);
}
