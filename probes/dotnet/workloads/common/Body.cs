namespace Taskscale.Workloads;

/// <summary>
/// What a task does. Each is a struct, so that the runtime compiles the forms anew for each: a process that has run
/// counted tasks then times the others as one that has not.
/// </summary>
public interface IBody {
    /// <summary>The result of task <paramref name="i"/>.</summary>
    long Result(int i);

    /// <summary>Task <paramref name="i"/> where nobody wants its result.</summary>
    void Discard(int i) => Kernel.Discard(Result(i));

    /// <summary>Called by the creator before it creates a task.</summary>
    void Created();

    /// <summary>The answer of <paramref name="size"/> tasks without results.</summary>
    long Discarded(int size);
}

/// <summary>Gives <c>31 * i</c>.</summary>
public readonly struct Plain : IBody {
    public long Result(int i) => Kernel.Product(i);
    public void Discard(int i) => Kernel.Discard(Kernel.Product(i));
    public void Created() { }
    public long Discarded(int size) => size;
}

/// <summary>Gives <c>spin(seed + i, work)</c>.</summary>
public readonly struct Spun(long seed, long work) : IBody {
    public long Result(int i) => Kernel.Spin(seed + i, work);
    public void Discard(int i) => Kernel.Discard(Result(i));
    public void Created() { }
    public long Discarded(int size) => size;
}

/// <summary>Does nothing, and gives 1.</summary>
public readonly struct Nothing : IBody {
    public long Result(int i) => 1;
    public void Discard(int i) { }
    public void Created() { }
    public long Discarded(int size) => size;
}

/// <summary>Another one, counted.</summary>
public readonly struct Counted<TBody>(TBody body, Count count) : IBody
    where TBody : struct, IBody {
    public long Result(int i) {
        long result = body.Result(i);
        count.Executed(result);
        return result;
    }

    public void Discard(int i) => Result(i);
    public void Created() => count.Created();
    public long Discarded(int size) => count.TakeSum();
}
