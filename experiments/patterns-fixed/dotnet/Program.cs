// The seven patterns on .NET's thread pool, as they are and with the digest's advice taken: one run, of which one line of JSON is
// printed.
//
//     dotnet fixed.dll PATTERN as-is|fixed BY observed|plain
//
// BY is the number in the advice: so many pieces of a task, or tasks in a batch. `compare` starts it. The pool shows no work items
// to anyone, so tasks are wrapped: each thread of the pool is a worker of the C interface (taskscale.h). Numbers and milliseconds
// are those of program.hpp.
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;

if (args.Length != 4) { Console.Error.WriteLine("usage: fixed PATTERN as-is|fixed BY observed|plain"); return 2; }
var (pattern, isFixed, observed) = (args[0], args[1] == "fixed", args[3] == "observed");
var by = isFixed ? int.Parse(args[2], CultureInfo.InvariantCulture) : 1;
// One thread needs DOTNET_PROCESSOR_COUNT=1: the pool has no fewer threads than processors.
var workers = pattern switch { "SCHEDULING_OVERHEAD" => 1, "HEALTHY" or "RECURSIVE_OVERLAP" => 2, _ => 8 };
if (!ThreadPool.SetMinThreads(workers, 1) || !ThreadPool.SetMaxThreads(workers, 1))
{
    Console.Error.WriteLine($"the pool does not take {workers} threads: set DOTNET_PROCESSOR_COUNT to 1");
    return 2;
}
if (observed) Observed.Start((uint)workers);
Func<int, bool, Task>? program = pattern switch
{
    "HEALTHY" => (_, _) => Start(100, () => Spin(4), "step"),
    "SCHEDULING_OVERHEAD" => (by, _) => Yields(by),
    "SERIAL_BOTTLENECK" => (by, _) => Rounds(by),
    "LOAD_IMBALANCE" => Partitions,
    "STRAGGLER_TASKS" => (by, _) => Task.WhenAll(Start(by, () => Hold(400.0 / by), "whale"), Start(160, () => Hold(2), "minnow")),
    "UNDER_DECOMPOSITION" => (by, _) => Start(2 * by, () => Hold(300.0 / by), "half"),
    "RECURSIVE_OVERLAP" => (_, isFixed) => Parents(isFixed),
    _ => null,
};
if (program is null) { Console.Error.WriteLine($"no such pattern: {pattern}"); return 2; }
// Threads of the pool are made and code is compiled before anything is timed.
await Task.WhenAll(Enumerable.Range(0, workers).Select(_ => Run(() => Hold(20), "warm")));
Compute(1000);
if (pattern == "SCHEDULING_OVERHEAD") await Items(20_000, by);
Observed.Clear();
var (cpu, clock) = (Process.GetCurrentProcess().TotalProcessorTime, Stopwatch.StartNew());
await program(by, isFixed);
var (seconds, used) = (clock.Elapsed.TotalSeconds, (Process.GetCurrentProcess().TotalProcessorTime - cpu).TotalSeconds);
var digest = observed ? Observed.Write(1) : "null";
Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
    $"{{\"seconds\":{seconds:F9},\"cpu\":{used:F9},\"text\":{Observed.Write(0).Length},\"digest\":{digest}}}"));
return 0;

// Holds a worker and no processor.
static void Hold(double ms)
{
    // Thread.Sleep takes whole milliseconds.
    var time = new Timespec { Seconds = (long)(ms / 1e3), Nanoseconds = (long)(ms * 1e6) % 1_000_000_000 };
    Timespec.nanosleep(ref time, IntPtr.Zero);
}

// Holds a worker and its processor, by the clock.
static void Spin(double ms)
{
    var clock = Stopwatch.StartNew();
    while (clock.Elapsed.TotalMilliseconds < ms) { }
}

static ulong Compute(int steps)
{
    ulong value = 1;
    for (var i = 0; i < steps; ++i) value = value * 6364136223846793005 + 1442695040888963407;
    return value;
}

// A task of the pool, seen as a span of that name.
static Task Run(Action body, string name) => Task.Run(() =>
{
    Observed.Begin();
    body();
    Observed.End(name);
});

static Task Start(int tasks, Action body, string name) => Task.WhenAll(Enumerable.Range(0, tasks).Select(_ => Run(body, name)));

// A method that gives way after each item: what follows is a new work item of the pool.
static async Task Items(int items, int by)
{
    for (var i = 0; i < items; i += by)
    {
        Observed.Begin();
        for (var j = 0; j < by; ++j) Sink.Value += Compute(300);
        Observed.End("item");
        await Task.Yield();
    }
}

static Task Yields(int by) => Task.Run(() => Items(1_000_000, by));

static async Task Rounds(int pieces)
{
    for (var round = 0; round < 6; ++round)
    {
        await Start(pieces, () => Hold(60.0 / pieces), "alone");
        await Start(16, () => Hold(5), "step");
    }
}

// The steps that one worker was given, each started behind the one before; or all, for whoever comes.
static Task Partitions(int by, bool isFixed)
{
    static async Task Chain(int steps) { for (var i = 0; i < steps; ++i) await Run(() => Hold(5), "step"); }
    int[] lengths = [60, 10, 10, 10, 10, 10, 10, 10];
    return Task.WhenAll(lengths.Select(steps => isFixed ? Start(steps * by, () => Hold(5.0 / by), "step") : Chain(steps)));
}

// Each parent starts a long child and some short ones, and waits for them inside of itself or leaves them to whoever comes.
static async Task Parents(bool isFixed)
{
    var left = new List<Task>();
    for (var i = 0; i < 24; ++i)
    {
        Task[] family = [];
        await Run(() =>
        {
            family = [Run(() => Spin(20), "long"), .. Enumerable.Range(0, 9).Select(_ => Run(() => Spin(0.4), "short"))];
            if (!isFixed) Task.WaitAll(family);
        }, "parent");
        left.AddRange(family);
    }
    await Task.WhenAll(left);
}

static class Sink { public static ulong Value; }

struct Timespec
{
    public long Seconds, Nanoseconds;
    [DllImport("libc")] public static extern int nanosleep(ref Timespec time, IntPtr left);
}

// The C interface: taskscale.h says what each call does.
static unsafe class Observed
{
    const uint Abi = 3;
    static IntPtr observer;
    static int threads;
    [ThreadStatic] static IntPtr here;
    // Names live as long as the process.
    static readonly System.Collections.Concurrent.ConcurrentDictionary<string, IntPtr> Names = new();

    [DllImport("taskscale")] static extern IntPtr taskscale_observer_new(uint abi, string source, uint workers, uint flags);
    [DllImport("taskscale")] static extern IntPtr taskscale_observer_worker(IntPtr observer, uint index);
    [DllImport("taskscale")] static extern void taskscale_observer_clear(IntPtr observer);
    [DllImport("taskscale")] static extern nuint taskscale_observer_write(IntPtr observer, uint format, byte* text, nuint room);
    // A switch of the collector's mode would take longer than the call.
    [DllImport("calls"), SuppressGCTransition] static extern void calls_begin(IntPtr worker);
    [DllImport("calls"), SuppressGCTransition] static extern void calls_end(IntPtr worker, IntPtr name);

    public static void Start(uint workers) => observer = taskscale_observer_new(Abi, "dotnet", workers, 0);
    public static void Clear() { if (observer != 0) taskscale_observer_clear(observer); }

    public static void Begin()
    {
        if (observer == 0) return;
        if (here == 0) here = taskscale_observer_worker(observer, (uint)Interlocked.Increment(ref threads) - 1);
        calls_begin(here);
    }

    public static void End(string name)
    {
        if (observer != 0) calls_end(here, Names.GetOrAdd(name, text => Marshal.StringToHGlobalAnsi(text)));
    }

    public static string Write(uint format)
    {
        if (observer == 0) return "";
        var text = new byte[taskscale_observer_write(observer, format, null, 0) + 256];
        fixed (byte* at = text) taskscale_observer_write(observer, format, at, (nuint)text.Length);
        return System.Text.Encoding.UTF8.GetString(text, 0, Array.IndexOf(text, (byte)0));
    }
}
