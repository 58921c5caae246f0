using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;

namespace Taskscale.Workloads.Interp;

/// <summary>A <c>ValueTask</c> that counts how often it is used. An instrumented run has one where another has a plain one.</summary>
public sealed class Once<T> : IValueTaskSource<T> {
    private readonly Action used, usedAgain;
    private readonly Task<T> task;
    private int uses;

    private Once(ValueTask<T> result, Action made, Action used, Action usedAgain) {
        (this.used, this.usedAgain) = (used, usedAgain);
        task = result.AsTask();
        made();
    }

    /// <summary>The result, counted where the observer counts.</summary>
    public static ValueTask<T> Of<TObserve>(ValueTask<T> result, TObserve observe)
        where TObserve : struct, IObserve => TObserve.Counts
            ? new(new Once<T>(result, observe.Made, observe.Taken, observe.TakenAgain), 0)
            : result;

    public T GetResult(short token) {
        (Interlocked.Increment(ref uses) == 1 ? used : usedAgain)();
        return task.GetAwaiter().GetResult();
    }

    public ValueTaskSourceStatus GetStatus(short token) =>
        task.IsCompletedSuccessfully ? ValueTaskSourceStatus.Succeeded
        : task.IsCompleted ? ValueTaskSourceStatus.Faulted
        : ValueTaskSourceStatus.Pending;

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        task.ConfigureAwait(false).GetAwaiter().OnCompleted(() => continuation(state));
}

/// <summary>A yield to the scheduler that is counted when somebody was told to wait for it.</summary>
public readonly struct Pause(Counts counts) : ICriticalNotifyCompletion {
    public Pause GetAwaiter() => this;
    public bool IsCompleted => false;
    public void GetResult() { }
    public void OnCompleted(Action continuation) => UnsafeOnCompleted(continuation);

    public void UnsafeOnCompleted(Action continuation) {
        counts.Suspended();
        ThreadPool.UnsafeQueueUserWorkItem(static next => next(), continuation, preferLocal: true);
    }
}
