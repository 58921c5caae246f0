namespace Taskscale.Workloads.Interp;

/// <summary>
/// Sees what an evaluator does. It is a struct, so that the runtime compiles the evaluators anew for each: a timed run
/// evaluates with <see cref="Silent"/>, of which nothing is left.
/// </summary>
public interface IObserve {
    /// <summary>Whether anything is counted.</summary>
    static abstract bool Counts { get; }

    /// <summary>A node is evaluated, until <see cref="Leave"/>.</summary>
    void Enter();
    void Leave();
    void Builtin();
    void Extension();
    void Begins(long element);
    void HasValue(long element);
    void Suspended();

    /// <summary>One real yield to the scheduler, counted. Without counting it is <c>Task.Yield</c>, which is cheaper.</summary>
    Pause Pause();

    /// <summary>A result that can be used once is there to be used; <see cref="Taken"/> says that it was.</summary>
    void Made();
    void Taken();
    /// <summary>It was used before.</summary>
    void TakenAgain();
}

/// <summary>Sees nothing.</summary>
public readonly struct Silent : IObserve {
    public static bool Counts => false;
    public void Enter() { }
    public void Leave() { }
    public void Builtin() { }
    public void Extension() { }
    public void Begins(long element) { }
    public void HasValue(long element) { }
    public void Suspended() { }
    public Pause Pause() => default;
    public void Made() { }
    public void Taken() { }
    public void TakenAgain() { }
}

/// <summary>Counts.</summary>
public readonly struct Counting(Counts counts) : IObserve {
    public static bool Counts => true;
    public void Enter() => counts.Enter();
    public void Leave() => counts.Leave();
    public void Builtin() => counts.Builtin();
    public void Extension() => counts.Extension();
    public void Begins(long element) => counts.Begins(element);
    public void HasValue(long element) => counts.HasValue(element);
    public void Suspended() => counts.Suspended();
    public Pause Pause() => new(counts);
    public void Made() => counts.Made();
    public void Taken() => counts.Taken();
    public void TakenAgain() => counts.TakenAgain();
}
