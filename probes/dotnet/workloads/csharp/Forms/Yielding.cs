namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>Async methods that yield once, so that each goes through the pool, and one <c>Task.WhenAll</c>.</summary>
internal sealed class Yielding : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var tasks = new Task<long>[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            tasks[i - from] = Result(body, i);
        }
        phases.Created();
        return Task.WhenAll(tasks);
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        var tasks = new Task[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            tasks[i - from] = Discarded(body, i);
        }
        phases.Created();
        return Task.WhenAll(tasks);
    }

    private static async Task<long> Result<TBody>(TBody body, int i)
        where TBody : struct, IBody {
        await Task.Yield();
        return body.Result(i);
    }

    private static async Task Discarded<TBody>(TBody body, int i)
        where TBody : struct, IBody {
        await Task.Yield();
        body.Discard(i);
    }
}
