using System.Threading.Channels;

namespace Taskscale.Workloads.CSharp;

/// <summary>
/// <c>remote</c>: <c>size</c> tasks that threads hand to the pool which are none of its own. The threads are started before the
/// timed part, and wait. Each iteration lets them go, all at once, and ends when the last task has run. A task adds one to a
/// count.
/// </summary>
internal static class Remote {
    private const int MostProducers = 64;

    /// <summary>Answer of an iteration: the number of tasks that have run.</summary>
    public static void Declare() {
        Probe.Param("remote", "producers", 1, "threads outside of the pool that share the tasks");
        Probe.Variant("remote", "Task.Run", run => FromThreads(run, WithTasks)).Note("a Task each, which nobody awaits");
        Probe.Variant("remote", "Task.Run/local", run => FromTasks(run)).Note("tasks in place of the threads");
        Probe.Variant("remote", "UnsafeQueueUserWorkItem", run => FromThreads(run, WithItems))
            .Note("IThreadPoolWorkItem, preferLocal false; one object for all, no Task");
        Probe.Variant("remote", "Channel", run => WithChannel(run)).CreatesTask(false)
            .Note("delegates through an unbounded channel to a reader a core");
    }

    /// <summary>The tasks of each producer: as even a share as can be.</summary>
    private static int[] Shares(Run run) {
        long asked = run.Integer("producers");
        if (asked is < 1 or > MostProducers) throw new ArgumentException($"producers is {asked}; give 1 to {MostProducers}");
        int producers = (int)asked;
        return [.. Enumerable.Range(0, producers).Select(one => run.Size / producers + (one < run.Size % producers ? 1 : 0))];
    }

    /// <summary>Times while threads are there that call <c>hand</c> with their share whenever the gate opens.</summary>
    private static Timing FromThreads(Run run, Func<Ran, Action<int>> form) {
        int[] shares = Shares(run);
        using var ran = new Ran(run.Size);
        Action<int> hand = form(ran);
        var gate = new Gate();
        var threads = new List<Thread>();
        try {
            foreach (int share in shares) {
                var thread = new Thread(() => {
                    for (long iteration = 1; gate.Pass(iteration); iteration++) hand(share);
                }) { IsBackground = true };
                thread.Start();
                threads.Add(thread);
            }
            gate.Await(shares.Length);
            return run.Time(_ => ran.Once(gate.Open));
        }
        finally {
            gate.Close();
            foreach (Thread thread in threads) thread.Join();
        }
    }

    private static Timing FromTasks(Run run) {
        int[] shares = Shares(run);
        using var ran = new Ran(run.Size);
        Action<int> hand = WithTasks(ran);
        return run.Time(_ => ran.Once(() => {
            foreach (int share in shares) Task.Run(() => hand(share));
        }));
    }

    private static Action<int> WithTasks(Ran ran) {
        Action one = ran.Execute;
        return share => {
            for (int left = share; left > 0; left--) Task.Run(one);
        };
    }

    private static Action<int> WithItems(Ran ran) => share => {
        for (int left = share; left > 0; left--) ThreadPool.UnsafeQueueUserWorkItem(ran, preferLocal: false);
    };

    private static Timing WithChannel(Run run) {
        var channel = Channel.CreateUnbounded<Action>();
        var reading = new Task[Environment.ProcessorCount];
        try {
            for (int reader = 0; reader < reading.Length; reader++) reading[reader] = Task.Run(() => Calls(channel.Reader));
            return FromThreads(run, ran => {
                Action one = ran.Execute;
                return share => {
                    for (int left = share; left > 0; left--) channel.Writer.TryWrite(one);
                };
            });
        }
        finally {
            channel.Writer.Complete();
            Task.WaitAll(reading);
        }
    }

    private static async Task Calls(ChannelReader<Action> reader) {
        await foreach (Action task in reader.ReadAllAsync()) task();
    }

    /// <summary>The tasks of an iteration. The last one wakes the thread that waits.</summary>
    private sealed class Ran(long all) : IThreadPoolWorkItem, IDisposable {
        // Whoever waits for it does not spin.
        private readonly AutoResetEvent done = new(false);
        private long count;

        /// <summary>What a task does.</summary>
        public void Execute() {
            if (Interlocked.Increment(ref count) == all) done.Set();
        }

        /// <summary>An iteration: <c>begin</c> has the tasks handed over. Gives how many have run.</summary>
        internal long Once(Action begin) {
            Volatile.Write(ref count, 0);
            begin();
            done.WaitOne();
            return Volatile.Read(ref count);
        }

        public void Dispose() => done.Dispose();
    }

    /// <summary>What producers wait at.</summary>
    private sealed class Gate {
        private readonly object changed = new();
        private long opened;
        private int came;
        private bool closed;

        /// <summary>Opens it for the next iteration.</summary>
        internal void Open() {
            lock (changed) {
                opened++;
                Monitor.PulseAll(changed);
            }
        }

        /// <summary>Lets producers end.</summary>
        internal void Close() {
            lock (changed) {
                closed = true;
                Monitor.PulseAll(changed);
            }
        }

        /// <summary>Waits until it was opened so often. Gives whether it was.</summary>
        internal bool Pass(long iteration) {
            lock (changed) {
                if (iteration == 1) {
                    came++;
                    Monitor.PulseAll(changed);
                }
                while (opened < iteration && !closed) Monitor.Wait(changed);
                return opened >= iteration;
            }
        }

        /// <summary>Waits until so many have come.</summary>
        internal void Await(int producers) {
            lock (changed) {
                while (came < producers) Monitor.Wait(changed);
            }
        }
    }
}
