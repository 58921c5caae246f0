using System.Runtime;

namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>idle</c>: <c>size</c> milliseconds are watched, while <c>rate</c> tasks arrive a second. Task i arrives i steps of
/// <c>1000 / rate</c> milliseconds after the beginning, however late the one before it was, and adds a step to a count. Others a
/// millisecond apart come before, untimed, 200 at a time until none of them had a method compiled: compiling in the background
/// took 9 to 90 ms of a second in which one task arrived.
/// </summary>
internal static class Idle {
    private const int Before = 200, MostBefore = 15;

    /// <summary>Calls <c>start</c> at the time of each task.</summary>
    private delegate Task Arrive(int number, long step, Action start);

    /// <summary>Answer of an iteration: the count.</summary>
    public static void Declare() {
        Probe.Param("idle", "rate", 1000, "tasks that arrive a second: 1, 10, 100 or 1000");
        Declare("Task.Delay/Task.Run", ByDelay, "a timer, which knows whole milliseconds");
        Declare("PeriodicTimer/Task.Run", ByPeriod, "ticks that nobody waits for are one");
        Declare("outside/Task.Run", Outside, "a thread sleeps, to whole milliseconds");
    }

    private static void Declare(string name, Arrive arrive, string note) =>
        Probe.VariantAsync("idle", name, run => Perform(run, arrive)).Note(note);

    private static async Task<Timing> Perform(Run run, Arrive arrive) {
        long rate = run.Integer("rate");
        if (rate is not (1 or 10 or 100 or 1000)) throw new ArgumentException($"rate is {rate}; give 1, 10, 100 or 1000");
        long step = 1000 / rate;
        if (run.Size % step != 0) {
            throw new ArgumentException($"in {run.Size} ms no whole number of tasks arrives at {rate} a second");
        }
        long compiled = -1;
        for (int times = 0; times < MostBefore && compiled != (compiled = JitInfo.GetCompiledMethodCount()); times++) {
            await Once(arrive, Before, 1);
        }
        return await run.TimeAsync(_ => Once(arrive, (int)(run.Size / step), step));
    }

    private static async Task<long> Once(Arrive arrive, int number, long step) {
        long count = 0;
        var tasks = new List<Task>(number);
        await arrive(number, step, () => tasks.Add(Task.Run(() => Interlocked.Add(ref count, step))));
        await Task.WhenAll(tasks);
        return Interlocked.Read(ref count);
    }

    /// <summary>Whole milliseconds until a task arrives, no less; 0 or less where it is time.</summary>
    private static int Left(long begunNs, long ms) => (int)Math.Ceiling((begunNs + ms * 1_000_000 - Clock.WallNs()) / 1e6);

    private static Task ByDelay(int number, long step, Action start) => Task.Run(async () => {
        long begun = Clock.WallNs();
        for (int i = 1; i <= number; i++) {
            for (int left; (left = Left(begun, i * step)) > 0;) await Task.Delay(left);
            start();
        }
    });

    private static Task ByPeriod(int number, long step, Action start) => Task.Run(async () => {
        long begun = Clock.WallNs();
        using var timer = new PeriodicTimer(TimeSpan.FromMilliseconds(step));
        for (int i = 1; i <= number;) {
            await timer.WaitForNextTickAsync();
            // A tick that came late stands for those before it, and one that came early for none.
            for (; i <= number && Left(begun, i * step) <= 0; i++) start();
        }
    });

    private static Task Outside(int number, long step, Action start) {
        var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        new Thread(() => {
            long begun = Clock.WallNs();
            for (int i = 1; i <= number; i++) {
                for (int left; (left = Left(begun, i * step)) > 0;) Thread.Sleep(left);
                start();
            }
            ended.SetResult();
        }).Start();
        return ended.Task;
    }
}
