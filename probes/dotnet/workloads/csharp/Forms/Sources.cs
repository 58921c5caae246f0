namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>Async methods that wait for a <c>TaskCompletionSource</c> each; all wait, then all are set.</summary>
internal sealed class Sources(TaskCreationOptions how) : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var sources = new TaskCompletionSource[to - from];
        var tasks = new Task<long>[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            sources[i - from] = new(how);
            tasks[i - from] = Result(sources[i - from], body, i);
        }
        phases.Created();
        foreach (TaskCompletionSource source in sources) source.SetResult();
        return Task.WhenAll(tasks);
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        var sources = new TaskCompletionSource[to - from];
        var tasks = new Task[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            sources[i - from] = new(how);
            tasks[i - from] = Discarded(sources[i - from], body, i);
        }
        phases.Created();
        foreach (TaskCompletionSource source in sources) source.SetResult();
        return Task.WhenAll(tasks);
    }

    private static async Task<long> Result<TBody>(TaskCompletionSource source, TBody body, int i)
        where TBody : struct, IBody {
        await source.Task;
        return body.Result(i);
    }

    private static async Task Discarded<TBody>(TaskCompletionSource source, TBody body, int i)
        where TBody : struct, IBody {
        await source.Task;
        body.Discard(i);
    }
}
