using System.Threading.Channels;

namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>drain</c>: <c>size</c> things that wait, completed and collected. All of them wait before the clock starts, so that
/// what is timed is the price of a completion among many that still wait.
/// </summary>
internal static class Drain {
    // Half a second each, on the machine of probes/dotnet/README.md.
    private const int Most = 65_536;
    private const int MostAgain = 8_192;

    /// <summary>Answer of an iteration: the number of things collected.</summary>
    internal static void Declare() {
        Parts.Declare("drain", "WhenAny/again", WhenAny).MaxSize(MostAgain)
            .Note("asked again for those that are left: each call adds a continuation to all of them");
        Parts.Declare("drain", "WhenEach", WhenEach).Note("asked once");
        Parts.Declare("drain", "WaitAsync/cancelled", WaitAsync).MaxSize(Most)
            .Note("waits for one task, cancelled together: each is searched for in the task's list");
        Parts.Declare("drain", "SemaphoreSlim/cancelled", Semaphore).Note("the same for one semaphore");
        Parts.Declare("drain", "WhenAny/shared", Shared).MaxSize(Most)
            .Note("\"this or shutdown\" all at once: each is searched for in the list of the shared task");
        Parts.Declare("drain", "WhenAny/shared_in_turn", InTurn).Note("the same, one after the other");
        Parts.Declare("drain", "WaitToReadAsync", WaitToRead).MaxSize(MostAgain)
            .Note("every item wakes every reader, and all but one wait again");
        Parts.Declare("drain", "ReadAsync", Read).Note("every item wakes one reader");
    }

    private static TaskCompletionSource[] Sources(Run run) =>
        [.. Enumerable.Range(0, run.Size).Select(_ => new TaskCompletionSource())];

    private static Task<Timing> WhenAny(Run once) {
        TaskCompletionSource[] sources = Sources(once);
        var left = new LinkedList<Task>(sources.Select(source => source.Task));
        return once.TimeAsync(async _ => {
            long collected = 0;
            foreach (TaskCompletionSource source in sources) {
                Task<Task> any = Task.WhenAny(left);
                source.SetResult();
                if (await any == source.Task) collected++;
                left.RemoveFirst();
            }
            return collected;
        });
    }

    private static Task<Timing> WhenEach(Run once) {
        TaskCompletionSource[] sources = Sources(once);
        Task[] tasks = [.. sources.Select(source => source.Task)];
        return once.TimeAsync(async _ => {
            int collected = 0;
            sources[0].SetResult();
            await foreach (Task done in Task.WhenEach(tasks)) {
                if (++collected < sources.Length) sources[collected].SetResult();
            }
            return collected;
        });
    }

    private static Task<Timing> WaitAsync(Run once) {
        var never = new TaskCompletionSource();
        return Cancelled(once, token => never.Task.WaitAsync(token));
    }

    private static Task<Timing> Semaphore(Run once) {
        var semaphore = new SemaphoreSlim(0);
        return Cancelled(once, semaphore.WaitAsync);
    }

    private static async Task<Timing> Cancelled(Run once, Func<CancellationToken, Task> wait) {
        using var stop = new CancellationTokenSource();
        Task[] waits = [.. Enumerable.Range(0, once.Size).Select(_ => wait(stop.Token))];
        return await once.TimeAsync(async _ => {
            stop.Cancel();
            await Task.WhenAll(waits).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            return waits.Count(one => one.IsCanceled);
        });
    }

    private static Task<Timing> Shared(Run once) {
        var shutdown = new TaskCompletionSource();
        TaskCompletionSource[] sources = Sources(once);
        Task<Task>[] waits = [.. sources.Select(source => Task.WhenAny(shutdown.Task, source.Task))];
        return once.TimeAsync(async _ => {
            long collected = 0;
            for (int i = 0; i < sources.Length; i++) {
                sources[i].SetResult();
                if (await waits[i] != shutdown.Task) collected++;
            }
            return collected;
        });
    }

    private static Task<Timing> InTurn(Run once) {
        var shutdown = new TaskCompletionSource();
        TaskCompletionSource[] sources = Sources(once);
        return once.TimeAsync(async _ => {
            long collected = 0;
            foreach (TaskCompletionSource source in sources) {
                Task<Task> wait = Task.WhenAny(shutdown.Task, source.Task);
                source.SetResult();
                if (await wait != shutdown.Task) collected++;
            }
            return collected;
        });
    }

    private static Task<Timing> WaitToRead(Run once) => Channelled(once, async reader => {
        while (await reader.WaitToReadAsync()) {
            if (reader.TryRead(out int _)) return;
        }
    });

    private static Task<Timing> Read(Run once) => Channelled(once, async reader => await reader.ReadAsync());

    private static Task<Timing> Channelled(Run once, Func<ChannelReader<int>, Task> read) {
        var channel = Channel.CreateUnbounded<int>(new() { AllowSynchronousContinuations = true });
        Task[] readers = [.. Enumerable.Range(0, once.Size).Select(_ => read(channel.Reader))];
        return once.TimeAsync(async _ => {
            for (int i = 0; i < readers.Length; i++) channel.Writer.TryWrite(i);
            await Task.WhenAll(readers);
            return readers.Length;
        });
    }
}
