namespace Taskscale.Workloads.CSharp.Forms;

/// <summary><c>Task.Run</c> of an async lambda that waits.</summary>
internal sealed class Waits : Parked.Way {
    public override Task<long> OnEvent(Task happens) => Task.Run(async () => {
        Parked.Waits();
        await happens;
        return 1L;
    });

    public override Task<long> OnTimer(CancellationToken stop) => Task.Run(async () => {
        Parked.Waits();
        // Without an exception for each, which would be the larger part of waking one.
        await Task.Delay(Parked.Hour, stop).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return stop.IsCancellationRequested ? 1L : 0L;
    });

    public override Task<long> OnLock(SemaphoreSlim held) => Task.Run(async () => {
        Parked.Waits();
        await held.WaitAsync();
        held.Release();
        return 1L;
    });
}
