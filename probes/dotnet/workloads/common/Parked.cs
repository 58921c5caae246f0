using System.Diagnostics;

namespace Taskscale.Workloads;

/// <summary>
/// <c>parked</c>: <c>size</c> tasks that all wait, and are woken and collected. What is timed is the waking; what tasks hold
/// while they wait is read where the request asks for it.
/// </summary>
public static class Parked {
    /// <summary>A task sleeps for so long, and is cancelled before.</summary>
    public static readonly TimeSpan Hour = TimeSpan.FromHours(1);
    // If for so long no further task began to wait, none will.
    private static readonly TimeSpan Stuck = TimeSpan.FromSeconds(5);
    private static long waiting;

    /// <summary>A way of starting a task that waits and then gives 1. It says that it waits, and waits at once.</summary>
    public abstract class Way {
        /// <summary>Waits for what is not done.</summary>
        public abstract Task<long> OnEvent(Task happens);
        /// <summary>Sleeps; gives 0 if it was not cut short.</summary>
        public abstract Task<long> OnTimer(CancellationToken stop);
        /// <summary>Takes what is held, and releases it.</summary>
        public abstract Task<long> OnLock(SemaphoreSlim held);
    }

    /// <summary>No task waits yet.</summary>
    public static void Begin() => Interlocked.Exchange(ref waiting, 0);

    /// <summary>Says that a task begins to wait.</summary>
    public static void Waits() => Interlocked.Increment(ref waiting);

    /// <summary>Answer of an iteration: the number of tasks that were woken. It is performed on the main thread.</summary>
    public static void Declare(string name, Way way) {
        Probe.Param("parked", "on", "event", "what tasks wait for: a TaskCompletionSource; an hour to pass, which is cancelled; "
            + "a SemaphoreSlim that is held", "event", "timer", "lock");
        Probe.Param("parked", "resident", false, "also reads the memory of the process, after a collection: before the first "
            + "task, and while all wait");
        Probe.Variant("parked", name, run => Perform(run, way));
    }

    private static Timing Perform(Run run, Way way) {
        Run once = run.Once();
        bool resident = run.Integer("resident") == 1;
        var sum = new Timing(0, 0, 0, []);
        for (long done = 0; done != run.Iterations; done++) {
            // Later iterations find a heap that has held tasks before.
            bool reads = resident && done == 0;
            if (reads) sum.Extra["resident_before"] = Resident();
            var tasks = new Task<long>[run.Size];
            Begin();
            long before = ThreadPool.CompletedWorkItemCount;
            Action wake = Started(run.Word("on"), way, tasks);
            UntilAll(tasks, before);
            if (reads) sum.Extra["resident_waiting"] = Resident();
            Timing part = once.Time(_ => {
                wake();
                return Task.WhenAll(tasks).GetAwaiter().GetResult().Sum();
            });
            sum = sum with {
                WallNs = sum.WallNs + part.WallNs,
                CpuNs = sum.CpuNs + part.CpuNs,
                Answer = sum.Answer + part.Answer,
            };
        }
        if (resident || run.Verify) sum.Extra["waiting"] = run.Size; // each iteration has made sure of it
        return sum;
    }

    /// <summary>Starts the tasks, and gives what wakes them.</summary>
    private static Action Started(string on, Way way, Task<long>[] tasks) {
        if (on == "timer") {
            var stop = new CancellationTokenSource();
            for (int i = 0; i < tasks.Length; i++) tasks[i] = way.OnTimer(stop.Token);
            return stop.Cancel;
        }
        if (on == "lock") {
            var held = new SemaphoreSlim(0, 1);
            for (int i = 0; i < tasks.Length; i++) tasks[i] = way.OnLock(held);
            return () => held.Release();
        }
        // With the flag, the one who sets it does not run all tasks itself.
        var happens = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        for (int i = 0; i < tasks.Length; i++) tasks[i] = way.OnEvent(happens.Task);
        return happens.SetResult;
    }

    /// <summary>
    /// Returns when all tasks wait: each has said so, and the pool has done as many work items as began them, so that each has
    /// returned to the pool.
    /// </summary>
    public static void UntilAll(Task<long>[] tasks, long completedBefore) {
        long seen = 0;
        var since = Stopwatch.StartNew();
        while (true) {
            long now = Interlocked.Read(ref waiting);
            long returned = ThreadPool.CompletedWorkItemCount - completedBefore;
            if (now == tasks.Length && returned >= tasks.Length) break;
            if (now > seen) {
                seen = now;
                since.Restart();
            }
            else if (since.Elapsed > Stuck) {
                throw new InvalidOperationException($"{now} of {tasks.Length} tasks wait, and no further one begins to");
            }
            Thread.Sleep(1);
        }
        int ended = tasks.Count(task => task.IsCompleted);
        if (ended > 0) throw new InvalidOperationException($"{ended} of {tasks.Length} tasks ended before they were woken");
    }

    /// <summary>
    /// Resident bytes of this process after a collection. <c>smaps_rollup</c> counts pages; the kernel's running totals lag
    /// behind.
    /// </summary>
    private static long Resident() {
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Forced, blocking: true, compacting: true);
        string line = File.ReadLines("/proc/self/smaps_rollup").First(line => line.StartsWith("Rss:", StringComparison.Ordinal));
        return long.Parse(line.AsSpan(4).Trim().TrimEnd("kB")) * 1024;
    }
}
