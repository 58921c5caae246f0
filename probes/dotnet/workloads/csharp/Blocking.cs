namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>blocking</c>: <c>size</c> tasks, started at once, of which one in so many blocks for a while: what do the others wait?
/// A task tells how long it was ready before it ran.
/// </summary>
internal static class Blocking {
    private delegate Task Block(TimeSpan lasts);

    /// <summary>Answer of an iteration: the number of tasks done.</summary>
    internal static void Declare() {
        Probe.Param("blocking", "block_us", 1_000, "how long a task blocks that does, in microseconds");
        Probe.Param("blocking", "every", 100, "one task in so many blocks, the first of them");
        Declare("without", null, "no task blocks");
        Declare("inline", lasts => {
            Thread.Sleep(lasts);
            return Task.CompletedTask;
        }, "Thread.Sleep on a thread of the pool");
        Declare("LongRunning", lasts => Task.Factory.StartNew(() => Thread.Sleep(lasts), default, TaskCreationOptions.LongRunning,
            TaskScheduler.Default), "Thread.Sleep on a thread made for it, and awaited");
        Declare("Task.Delay", Task.Delay, "no thread blocks: a timer, which knows whole milliseconds");
    }

    private static void Declare(string name, Block? block, string note) =>
        Probe.VariantAsync("blocking", name, run => Perform(run, block)).Note(note);

    /// <summary>One iteration: what its tasks tell.</summary>
    private sealed class Burst(int size) {
        internal readonly long[] Waits = new long[size];
        internal readonly Task[] Tasks = new Task[size];
        internal long Blocked;

        /// <summary>Starts task i, which blocks where it is given what does.</summary>
        internal void Start(int i, Block? block, TimeSpan lasts) {
            long ready = Clock.WallNs();
            Tasks[i] = Task.Run(async () => {
                Waits[i] = Clock.WallNs() - ready;
                if (block is null) return;
                await block(lasts);
                Interlocked.Increment(ref Blocked);
            });
        }
    }

    private static async Task<Timing> Perform(Run run, Block? block) {
        long every = run.Integer("every"), blocked = 0;
        var lasts = TimeSpan.FromMicroseconds(run.Integer("block_us"));
        var waits = new List<long>();
        Timing timing = await run.TimeEachAsync(() => Task.FromResult(new Burst(run.Size)), async (_, burst) => {
            for (int i = 0; i < run.Size; i++) burst.Start(i, i % every == 0 ? block : null, lasts);
            await Task.WhenAll(burst.Tasks);
            return burst.Tasks.Length;
        }, burst => {
            waits.AddRange(burst.Waits);
            blocked += burst.Blocked;
        });
        waits.Sort();
        // The smallest wait that so many percent do not exceed.
        long Least(long percent) => waits[(int)((waits.Count * percent + 99) / 100) - 1];
        timing.Extra["wait_p50_ns"] = Least(50);
        timing.Extra["wait_p99_ns"] = Least(99);
        timing.Extra["wait_max_ns"] = Least(100);
        timing.Extra["blocked"] = blocked;
        return timing;
    }
}
