namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>A thread of the system per unit.</summary>
internal sealed class Threads : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        Join(from, to, phases, i => {
            body.Created();
            return new Thread(() => results[i - from] = body.Result(i));
        });
        return Task.FromResult(results);
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        Join(from, to, phases, i => {
            body.Created();
            return new Thread(() => body.Discard(i));
        });
        return Task.CompletedTask;
    }

    private static void Join(int from, int to, Phases phases, Func<int, Thread> make) {
        var threads = new Thread[to - from];
        for (int i = from; i < to; i++) {
            threads[i - from] = make(i);
            threads[i - from].Start();
        }
        phases.Created();
        foreach (Thread thread in threads) thread.Join();
    }
}
