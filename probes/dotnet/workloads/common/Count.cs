using System.Collections.Concurrent;

namespace Taskscale.Workloads;

/// <summary>What an instrumented run counts: executions, their results, and where and how many at once they were.</summary>
public sealed class Count {
    private readonly ConcurrentDictionary<int, bool> workers = new();
    private long executed, sum, live, maxLive;

    /// <summary>A task is about to be created.</summary>
    public void Created() {
        long now = Interlocked.Increment(ref live);
        for (long most = Volatile.Read(ref maxLive); now > most;) {
            long seen = Interlocked.CompareExchange(ref maxLive, now, most);
            if (seen == most) break;
            most = seen;
        }
    }

    /// <summary>A task has been done, with that result; called by the task, last.</summary>
    public void Executed(long result) {
        Interlocked.Add(ref sum, result);
        Interlocked.Increment(ref executed);
        workers.TryAdd(Environment.CurrentManagedThreadId, true);
        Interlocked.Decrement(ref live);
    }

    /// <summary>The sum of the results since it was last taken.</summary>
    public long TakeSum() => Interlocked.Exchange(ref sum, 0);

    /// <summary>Adds what was counted to <c>extra</c>, unless tasks are missing or too many.</summary>
    public Timing Report(Run run, Timing timing) {
        long expected = run.Size * run.Iterations;
        if (executed != expected) {
            throw new InvalidOperationException($"{executed} tasks were executed, {expected} were asked for");
        }
        timing.Extra["executed"] = executed;
        timing.Extra["max_live"] = maxLive;
        timing.Extra["workers_seen"] = (long)workers.Count;
        return timing;
    }
}
