using System.Buffers;

namespace Taskscale.Workloads.Interp;

/// <summary>A loop of requests, each of which is judged.</summary>
internal sealed class Loop(Request request, byte[] right, Counts? counts) {
    private readonly ArrayBufferWriter<byte> output = new(1024);
    private string? wrong;

    /// <summary>The number of requests with the right output.</summary>
    internal async Task<long> Requests(long size) {
        long good = 0;
        for (long done = 0; done != size; done++) {
            counts?.Request();
            output.ResetWrittenCount();
            await request(output).ConfigureAwait(false);
            if (output.WrittenSpan.SequenceEqual(right)) good++;
            else wrong ??= Text.Difference(output.WrittenSpan, right);
            counts?.Output(output.WrittenSpan);
        }
        return good;
    }

    /// <summary>Throws where an output was wrong.</summary>
    internal void Check() {
        if (wrong is not null) throw new InvalidOperationException(wrong);
    }
}
