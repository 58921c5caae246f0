using System.Threading.Channels;

namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>pingpong</c>: <c>size</c> round trips of a token between the two tasks of a pair, over <c>pairs</c> pairs. A task passes
/// the token on and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the token,
/// and whoever began counts the trip only if that was done.
/// </summary>
internal static class Pingpong {
    /// <summary>Where a token is passed, and waited for by one task.</summary>
    private interface IDirection {
        void Pass(long token);
        ValueTask<long> Take();
    }

    /// <summary>Answer of an iteration: the number of round trips.</summary>
    public static void Declare() {
        Probe.Param("pingpong", "pairs", 1, "pairs of tasks that share the round trips");
        Probe.Param("pingpong", "workers", "cores", "threads of the pool: the process is started with their number", "cores", "one");
        Declare("Channel", () => new Channeled());
        Declare("SemaphoreSlim", () => new Released());
        Declare("TaskCompletionSource", () => new Completed());
    }

    private static void Declare(string name, Func<IDirection> made) =>
        Probe.VariantAsync("pingpong", name, run => Perform(run, made)).Only("workers", "cores");

    private static Task<Timing> Perform(Run run, Func<IDirection> made) {
        int pairs = checked((int)run.Integer("pairs"));
        return run.TimeAsync(async _ => {
            var begun = new Task<long>[pairs];
            var answering = new Task[pairs];
            for (int pair = 0; pair < pairs; pair++) {
                long trips = run.Size / pairs + (pair < run.Size % pairs ? 1 : 0);
                IDirection there = made(), back = made();
                answering[pair] = Task.Run(() => Pong(there, back, trips));
                begun[pair] = Task.Run(() => Ping(there, back, trips));
            }
            await Task.WhenAll(answering);
            return (await Task.WhenAll(begun)).Sum();
        });
    }

    /// <summary>The task that begins. Gives the number of trips from which the token came back as it should.</summary>
    private static async Task<long> Ping(IDirection there, IDirection back, long trips) {
        long right = 0;
        for (long token = 0; token < trips; token++) {
            there.Pass(token);
            if (await back.Take() == token + 1) right++;
        }
        return right;
    }

    /// <summary>The task that answers.</summary>
    private static async Task Pong(IDirection there, IDirection back, long trips) {
        for (; trips > 0; trips--) back.Pass(await there.Take() + 1);
    }

    private sealed class Channeled : IDirection {
        private readonly Channel<long> channel = Channel.CreateUnbounded<long>(new() { SingleReader = true, SingleWriter = true });

        public void Pass(long token) => channel.Writer.TryWrite(token);
        public ValueTask<long> Take() => channel.Reader.ReadAsync();
    }

    private sealed class Released : IDirection {
        private readonly SemaphoreSlim there = new(0, 1);
        private long passed;

        public void Pass(long token) {
            passed = token;
            there.Release();
        }

        public async ValueTask<long> Take() {
            await there.WaitAsync();
            return passed;
        }
    }

    /// <summary>A source for each token. With the flag, the one who passes it does not run the other task itself.</summary>
    private sealed class Completed : IDirection {
        private TaskCompletionSource<long> next = Fresh();

        private static TaskCompletionSource<long> Fresh() => new(TaskCreationOptions.RunContinuationsAsynchronously);

        public void Pass(long token) => Volatile.Read(ref next).SetResult(token);

        public async ValueTask<long> Take() {
            long token = await next.Task;
            // Nobody passes the next one before this one is answered.
            Volatile.Write(ref next, Fresh());
            return token;
        }
    }
}
