using System.Threading.Tasks.Dataflow;

namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>TPL Dataflow: messages to one <c>ActionBlock</c>, with a plain or an async action.</summary>
internal sealed class Blocks(bool awaited) : Form {
    private static readonly ExecutionDataflowBlockOptions Options = new() { MaxDegreeOfParallelism = Environment.ProcessorCount };

    public override async Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        var block = awaited
            ? new ActionBlock<int>(i => {
                results[i - from] = body.Result(i);
                return Task.CompletedTask;
            }, Options)
            : new ActionBlock<int>(i => { results[i - from] = body.Result(i); }, Options);
        await Post(block, body, from, to, phases);
        return results;
    }

    public override Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        var block = awaited
            ? new ActionBlock<int>(i => {
                body.Discard(i);
                return Task.CompletedTask;
            }, Options)
            : new ActionBlock<int>(i => { body.Discard(i); }, Options);
        return Post(block, body, from, to, phases);
    }

    private static Task Post<TBody>(ActionBlock<int> block, TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody {
        for (int i = from; i < to; i++) {
            body.Created();
            block.Post(i);
        }
        phases.Created();
        block.Complete();
        return block.Completion;
    }
}
