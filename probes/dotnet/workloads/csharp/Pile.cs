using System.Collections.Concurrent;

namespace Taskscale.Workloads.CSharp;

/// <summary><c>pile</c>: <c>size</c> steps, each of which may have to do with all that went before it.</summary>
internal static class Pile {
    // The stack ends at 30,800 async methods that call one another, and takes the process with it.
    private const int MostFrames = 16_384;
    private const int Most = 65_536;

    /// <summary>Answer of an iteration: the number of steps.</summary>
    internal static void Declare() {
        Parts.Declare("pile", "throw/deep", once => Deep(once, new InvalidOperationException("planned"))).MaxSize(MostFrames)
            .Note("one exception through that many awaits: its stack trace is copied at each");
        Parts.Declare("pile", "cancel/deep", once => Deep(once, new OperationCanceledException())).MaxSize(MostFrames)
            .Note("one cancellation through that many awaits");
        Parts.Declare("pile", "throw/flat", Flat).MaxSize(Most).Note("that many tasks that throw");
        Parts.Declare("pile", "AsyncLocal/set", Set).MaxSize(MostFrames).Note("each is set once: the context is copied each time");
        Parts.Declare("pile", "AsyncLocal/kept", Kept).MaxSize(MostFrames).Note("awaits beside that many that stay as they are");
        Parts.Declare("pile", "ConcurrentDictionary.Count", Dictionary).MaxSize(Most)
            .Note("asked at each insertion: it takes all locks, whose number grows");
        Parts.Declare("pile", "ConcurrentQueue.Count", Queue).Note("asked at each insertion");
    }

    private static Task<Timing> Deep(Run once, Exception planned) => once.TimeAsync(async _ => {
        try {
            await Through(once.Size, planned);
        }
        catch (Exception caught) when (caught == planned) {
            return once.Size;
        }
        return 0;
    });

    private static async Task Through(int left, Exception planned) {
        if (left > 1) {
            await Through(left - 1, planned);
            return;
        }
        await Task.Yield();
        throw planned;
    }

    private static Task<Timing> Flat(Run once) => once.TimeAsync(async _ => {
        long caught = 0;
        for (int i = 0; i < once.Size; i++) {
            try {
                await Through(1, new InvalidOperationException("planned"));
            }
            catch (InvalidOperationException) {
                caught++;
            }
        }
        return caught;
    });

    private static Task<Timing> Set(Run once) {
        AsyncLocal<int>[] locals = [.. Enumerable.Range(0, once.Size).Select(_ => new AsyncLocal<int>())];
        return once.TimeAsync(async _ => {
            for (int i = 0; i < locals.Length; i++) locals[i].Value = i + 1;
            await Task.Yield();
            return locals.LongCount(local => local.Value != 0);
        });
    }

    private static async Task<Timing> Kept(Run once) {
        AsyncLocal<int>[] locals = [.. Enumerable.Range(0, once.Size).Select(_ => new AsyncLocal<int>())];
        for (int i = 0; i < locals.Length; i++) locals[i].Value = i + 1;
        return await once.TimeAsync(async _ => {
            long done = 0;
            for (; done < once.Size; done++) await Task.Yield();
            return done;
        });
    }

    private static Task<Timing> Dictionary(Run once) {
        var all = new ConcurrentDictionary<int, int>();
        return once.TimeAsync(_ => Task.FromResult(Counted(once.Size, i => all.TryAdd(i, i), () => all.Count)));
    }

    private static Task<Timing> Queue(Run once) {
        var all = new ConcurrentQueue<int>();
        return once.TimeAsync(_ => Task.FromResult(Counted(once.Size, all.Enqueue, () => all.Count)));
    }

    private static long Counted(int size, Action<int> add, Func<int> count) {
        long right = 0;
        for (int i = 0; i < size; i++) {
            add(i);
            if (count() == i + 1) right++;
        }
        return right;
    }
}
