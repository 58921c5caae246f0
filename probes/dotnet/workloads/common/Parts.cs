namespace Taskscale.Workloads;

/// <summary>
/// Iterations of which only a part is timed: each sets up by itself, and times the rest. What is not timed is told beside.
/// </summary>
public static class Parts {
    /// <summary>Declares a variant whose iterations are <paramref name="once"/>, begun inside the pool.</summary>
    public static Variant Declare(string workload, string name, Func<Run, Task<Timing>> once) =>
        Probe.VariantAsync(workload, name, run => Sum(run, once)).CreatesTask(false);

    private static async Task<Timing> Sum(Run run, Func<Run, Task<Timing>> once) {
        Run one = run.Once();
        var sum = new Timing(0, 0, 0, []);
        (long wall, long cpu) = (Clock.WallNs(), Clock.CpuNs());
        for (long done = 0; done != run.Iterations; done++) {
            Timing part = await once(one);
            foreach (var (name, value) in part.Extra) sum.Extra[name] = (long)sum.Extra.GetValueOrDefault(name, 0L) + (long)value;
            sum = sum with {
                WallNs = sum.WallNs + part.WallNs,
                CpuNs = sum.CpuNs + part.CpuNs,
                Answer = sum.Answer + part.Answer,
            };
        }
        sum.Extra["setup_cpu_ns"] = Math.Max(Clock.CpuNs() - cpu - sum.CpuNs, 0);
        sum.Extra["setup_wall_ns"] = Math.Max(Clock.WallNs() - wall - sum.WallNs, 0);
        return sum;
    }
}
