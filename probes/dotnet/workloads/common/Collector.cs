using System.Runtime;

namespace Taskscale.Workloads;

/// <summary>The garbage collector in the state that a request asks for, while it is timed.</summary>
public static class Collector {
    // What a million of the dearest tasks allocate (F#'s Async.StartChild: 2 GB), twice. Only what is used becomes memory.
    private const long Most = 4L << 30;
    // Of that, for arrays of tasks: eight bytes each, and a copy or two.
    private const long Arrays = 256L << 20;

    /// <summary>Declares the parameter for a workload.</summary>
    public static void Declare(string workload) => Probe.Param(workload, "gc", "on", "the garbage collector: on; off", "on", "off");

    /// <summary>Times with the collector on, or in a region in which it does not run.</summary>
    internal static Task<Timing> Held(Run run, Func<Task<Timing>> time) => Held(run, time, Region());

    /// <summary>The same with a region of so many bytes.</summary>
    internal static async Task<Timing> Held(Run run, Func<Task<Timing>> time, long region) {
        bool off = run.Word("gc") == "off";
        if (off) Enter(region);
        // A collection of an older generation counts as one of the youngest too.
        int ran, before = GC.CollectionCount(0);
        Timing timing;
        try {
            timing = await time().ConfigureAwait(false);
        }
        finally {
            ran = GC.CollectionCount(0) - before;
            // A collection has ended the region.
            if (GCSettings.LatencyMode == GCLatencyMode.NoGCRegion) GC.EndNoGCRegion();
        }
        if (off && ran > 0) {
            throw new InvalidOperationException($"gc=off did not hold (collections: {ran}): the region of {region >> 20} MB ran out "
                + $"({run.Size} tasks, {run.Iterations} times); ask for fewer tasks (--size), or for gc=on");
        }
        if (off || run.Verify || run.WantsPhases) timing.Extra["gc_collections"] = new[] { ran };
        return timing;
    }

    /// <summary>At most half of what the process may have.</summary>
    private static long Region() => Math.Min(Most, GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 2);

    /// <summary>
    /// Begins a region. What earlier requests left is collected before: its memory is used again, so that a process does not
    /// grow, and pays for fresh pages at its first requests only.
    /// </summary>
    private static void Enter(long region) {
        GC.Collect();
        long arrays = Math.Min(Arrays, region / 2);
        string refused = "";
        try {
            if (GC.TryStartNoGCRegion(region, arrays)) return;
        }
        catch (ArgumentOutOfRangeException tooMuch) {
            refused = $" ({tooMuch.Message})";
        }
        throw new InvalidOperationException($"gc=off needs a region of {region >> 20} MB, which this process cannot have{refused}: "
            + "free memory, lift the limit of its heap (DOTNET_GCHeapHardLimit), or ask for gc=on");
    }
}
