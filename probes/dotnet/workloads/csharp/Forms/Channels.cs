using System.Threading.Channels;

namespace Taskscale.Workloads.CSharp.Forms;

/// <summary>Units written to a channel of that capacity (0: unbounded), with as many consumers as processors.</summary>
internal sealed class Channels(int capacity) : Form {
    public override async Task<long[]> Ordered<TBody>(TBody body, int from, int to, Phases phases) {
        var results = new long[to - from];
        Channel<int> channel = Made();
        Task consumers = Task.WhenAll(Enumerable.Range(0, Environment.ProcessorCount).Select(_ => Task.Run(async () => {
            await foreach (int i in channel.Reader.ReadAllAsync()) results[i - from] = body.Result(i);
        })));
        await Write(channel.Writer, body, from, to, phases);
        await consumers;
        return results;
    }

    public override async Task Discard<TBody>(TBody body, int from, int to, Phases phases) {
        Channel<int> channel = Made();
        Task consumers = Task.WhenAll(Enumerable.Range(0, Environment.ProcessorCount).Select(_ => Task.Run(async () => {
            await foreach (int i in channel.Reader.ReadAllAsync()) body.Discard(i);
        })));
        await Write(channel.Writer, body, from, to, phases);
        await consumers;
    }

    private Channel<int> Made() => capacity == 0
        ? Channel.CreateUnbounded<int>(new() { SingleWriter = true })
        : Channel.CreateBounded<int>(new BoundedChannelOptions(capacity) { SingleWriter = true });

    private static async Task Write<TBody>(ChannelWriter<int> writer, TBody body, int from, int to, Phases phases)
        where TBody : struct, IBody {
        for (int i = from; i < to; i++) {
            body.Created();
            await writer.WriteAsync(i);
        }
        phases.Created();
        writer.Complete();
    }
}
