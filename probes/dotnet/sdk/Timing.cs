namespace Taskscale;

/// <summary>
/// What a timed run brought: wall and CPU time of all iterations, the sum of their answers modulo 2^64, and in
/// <c>Extra</c>, which takes more (numbers, words, lists of them), what else is known.
/// </summary>
public sealed record Timing(long WallNs, long CpuNs, long Answer, Dictionary<string, object> Extra);

/// <summary>The share of creation, summed over iterations. Reads no clock unless the request has <c>phases</c>.</summary>
public sealed class Phases {
    private readonly bool on;
    // The sums; and what the clocks read, less the sums, when the iteration began.
    private long wall, cpu, wallBefore, cpuBefore;

    internal Phases(bool on) => this.on = on;

    /// <summary>
    /// Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
    /// tasks until near its end), the last call counts.
    /// </summary>
    public void Created() {
        if (on) (wall, cpu) = (Clock.WallNs() - wallBefore, Clock.CpuNs() - cpuBefore);
    }

    internal void Begin() {
        if (on) (wallBefore, cpuBefore) = (Clock.WallNs() - wall, Clock.CpuNs() - cpu);
    }

    internal Dictionary<string, object> Extra() =>
        wall == 0 ? [] : new() { ["create_wall_ns"] = wall, ["create_cpu_ns"] = cpu };
}
