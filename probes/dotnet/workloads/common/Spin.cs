namespace Taskscale.Workloads;

/// <summary><c>spin</c>: <c>size</c> steps of the kernel in one call. Tells how long a step takes, so as to choose work.</summary>
public static class Spin {
    /// <summary>Answer of an iteration: <c>spin(seed, size)</c>.</summary>
    public static Variant Declare() =>
        Probe.Variant("spin", "loop", run => run.Time(phases => Kernel.Spin(run.Seed, run.Size)))
            .CreatesTask(false)
            .Note("one call, no task");
}
