namespace Taskscale;

/// <summary>What the runtime itself counts, and what reads it.</summary>
internal static class Counters {
    internal static readonly object All = new {
        allocations = new {
            reason = ".NET counts bytes and no objects", remedy = "ask for bytes, which are exact: --metrics bytes",
        },
        bytes = "GC.GetTotalAllocatedBytes(precise)", collections = "GC.CollectionCount(0)", pause_ns = "GC.GetTotalPauseDuration",
    };

    /// <summary>
    /// Those that a request asks for. The precise bytes stop all threads, and what each had of its own is added up. A
    /// collection of an older generation counts as one of the youngest too.
    /// </summary>
    internal static Dictionary<string, long> Read(string? asked) => asked switch {
        null => [],
        "memory" => new() { ["bytes"] = GC.GetTotalAllocatedBytes(precise: true) },
        _ => new() { ["collections"] = GC.CollectionCount(0), ["pause_ns"] = GC.GetTotalPauseDuration().Ticks * TimeSpan.NanosecondsPerTick },
    };

    /// <summary>By how much each rose.</summary>
    internal static Dictionary<string, long> Rise(Dictionary<string, long> before, Dictionary<string, long> after) =>
        after.ToDictionary(one => one.Key, one => one.Value - before[one.Key]);
}
