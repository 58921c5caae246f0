namespace Taskscale.Workloads.CSharp.Forms;

/// <summary><c>Parallel.ForEachAsync</c> with its default degree.</summary>
internal sealed class ForEachAsync : Form {
    public override async Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        await Parallel.ForEachAsync(Enumerable.Range(from, to - from), (i, _) => {
            body.Created();
            results[i - from] = body.Result(i);
            return ValueTask.CompletedTask;
        });
        return results;
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) =>
        Parallel.ForEachAsync(Enumerable.Range(from, to - from), (i, _) => {
            body.Created();
            body.Discard(i);
            return ValueTask.CompletedTask;
        });
}

/// <summary><c>Parallel.For</c>.</summary>
internal sealed class For : Form {
    public override Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        Parallel.For(from, to, i => {
            body.Created();
            results[i - from] = body.Result(i);
        });
        return Task.FromResult(results);
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        Parallel.For(from, to, i => {
            body.Created();
            body.Discard(i);
        });
        return Task.CompletedTask;
    }
}
