namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>Work items of the pool, an object each, without tasks; a <c>CountdownEvent</c> tells the end.</summary>
internal sealed class WorkItems : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var all = new Shared<TBody>(body, from, to);
        for (int i = from; i < to; i++) {
            body.Created();
            ThreadPool.UnsafeQueueUserWorkItem(new Result<TBody>(all, i), preferLocal: false);
        }
        phases.Created();
        all.Left.Wait();
        return Task.FromResult(all.Results);
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        var all = new Shared<TBody>(body, from, to);
        for (int i = from; i < to; i++) {
            body.Created();
            ThreadPool.UnsafeQueueUserWorkItem(new Discarded<TBody>(all, i), preferLocal: false);
        }
        phases.Created();
        all.Left.Wait();
        return Task.CompletedTask;
    }

    private sealed class Shared<TBody>(TBody body, int from, int to) {
        internal readonly TBody Body = body;
        internal readonly int From = from;
        internal readonly long[] Results = new long[to - from];
        internal readonly CountdownEvent Left = new(to - from);
    }

    private sealed class Result<TBody>(Shared<TBody> all, int i) : IThreadPoolWorkItem
        where TBody : struct, IBody {
        public void Execute() {
            all.Results[i - all.From] = all.Body.Result(i);
            all.Left.Signal();
        }
    }

    private sealed class Discarded<TBody>(Shared<TBody> all, int i) : IThreadPoolWorkItem
        where TBody : struct, IBody {
        public void Execute() {
            all.Body.Discard(i);
            all.Left.Signal();
        }
    }
}
