namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>Async methods that complete at once, each awaited before the next: no task that a scheduler sees.</summary>
internal sealed class Plainly : Form {
    public override async Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            results[i - from] = await Result(body, i);
        }
        return results;
    }

    public override async Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        for (int i = from; i < to; i++) {
            body.Created();
            await Discarded(body, i);
        }
    }

    // They are async and never await, which is the point.
#pragma warning disable CS1998
    private static async Task<long> Result<TBody>(TBody body, int i)
        where TBody : struct, IBody => body.Result(i);

    private static async Task Discarded<TBody>(TBody body, int i)
        where TBody : struct, IBody => body.Discard(i);
#pragma warning restore CS1998
}

/// <summary>The same that return a <c>ValueTask</c>.</summary>
internal sealed class PlainlyValue : Form {
    public override async Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        for (int i = from; i < to; i++) {
            body.Created();
            results[i - from] = await Result(body, i);
        }
        return results;
    }

    public override async Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        for (int i = from; i < to; i++) {
            body.Created();
            await Discarded(body, i);
        }
    }

#pragma warning disable CS1998
    private static async ValueTask<long> Result<TBody>(TBody body, int i)
        where TBody : struct, IBody => body.Result(i);

    private static async ValueTask Discarded<TBody>(TBody body, int i)
        where TBody : struct, IBody => body.Discard(i);
#pragma warning restore CS1998
}
