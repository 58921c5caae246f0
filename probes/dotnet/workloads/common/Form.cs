namespace Taskscale.Workloads;

/// <summary>A way of starting tasks and collecting what they give. Performs tasks from one to another, exclusive.</summary>
public abstract class Form {
    /// <summary>The name of the variant.</summary>
    public string Name { get; init; } = "";
    /// <summary>The orders that <c>fanout</c> has.</summary>
    public string[] Orders { get; init; } = ["ordered", "discard"];
    /// <summary>Whether each unit is a task that the scheduler sees.</summary>
    public bool CreatesTask { get; init; } = true;
    /// <summary>Whether tasks are created and awaited inside the pool; else by the main thread.</summary>
    public bool InPool { get; init; }
    public string Note { get; init; } = "";
    public int MaxSize { get; init; } = Array.MaxLength;

    /// <summary>The results in the order of the tasks.</summary>
    public virtual Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody => throw new NotSupportedException($"{Name} has no results in order");

    /// <summary>The sum of the results, taken as tasks finish.</summary>
    public virtual Task<long> Completion<TBody>(TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody => throw new NotSupportedException($"{Name} has no results as tasks finish");

    /// <summary>No results.</summary>
    public virtual Task Discard<TBody>(TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody => throw new NotSupportedException($"{Name} always has results");

    /// <summary>Declares it for a workload.</summary>
    internal Variant Declare(string workload, Func<Run, Task<Timing>> perform) {
        // What the main thread performs is done when the call returns.
        Variant variant = InPool
            ? Probe.VariantAsync(workload, Name, perform)
            : Probe.Variant(workload, Name, run => perform(run).GetAwaiter().GetResult());
        if (Note != "") variant.Note(Note);
        return variant.CreatesTask(CreatesTask).MaxSize(MaxSize);
    }

    /// <summary>Times iterations where this form wants them performed.</summary>
    internal Task<Timing> Time(Run run, Func<Phases, Task<long>> one) => InPool
        ? run.TimeAsync(one)
        : Task.FromResult(run.Time(phases => one(phases).GetAwaiter().GetResult()));

    /// <summary>
    /// What is to be awaited: outside the pool it is waited for here, or the next batch would begin inside.
    /// </summary>
    internal TTask Collected<TTask>(TTask task)
        where TTask : Task {
        if (!InPool) task.GetAwaiter().GetResult();
        return task;
    }
}
