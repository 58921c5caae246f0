using System.IO.Pipelines;
using System.Net.Http;

namespace Taskscale.Workloads.CSharp.Bytes;

/// <summary>Reads of a file that are awaited. The system has none for files: a thread of the pool makes each.</summary>
internal sealed class FileStreamReadAsync : Way {
    internal override async Task<long> Pass<TSum>(Origin from) {
        await using FileStream file = Open(from);
        return await Streamed.Read<TSum>(file, from.Chunk);
    }

    internal static FileStream Open(Origin from) =>
        new(from.Place, FileMode.Open, FileAccess.Read, FileShare.Read, bufferSize: 0, FileOptions.Asynchronous);
}

internal sealed class FilePipeReader : Way {
    internal override async Task<long> Pass<TSum>(Origin from) {
        await using FileStream file = FileStreamReadAsync.Open(from);
        var reader = PipeReader.Create(file, new(bufferSize: from.Chunk, leaveOpen: true));
        ulong state = TSum.Start;
        ReadResult read;
        do {
            read = await reader.ReadAsync();
            foreach (ReadOnlyMemory<byte> segment in read.Buffer) state = Span.Fold<TSum>(segment.Span, state);
            reader.AdvanceTo(read.Buffer.End);
        } while (!read.IsCompleted);
        await reader.CompleteAsync();
        return (long)TSum.Answer(state);
    }
}

/// <summary>A stream whose reads are awaited, into one buffer.</summary>
internal static class Streamed {
    internal static async Task<long> Read<TSum>(Stream stream, int chunk) where TSum : struct, ISum {
        byte[] buffer = new byte[chunk];
        ulong state = TSum.Start;
        while (await stream.ReadAsync(buffer) is int count and > 0) state = Span.Fold<TSum>(buffer.AsSpan(0, count), state);
        return (long)TSum.Answer(state);
    }
}

/// <summary>The client, which keeps its connections where the server does.</summary>
internal static class Client {
    internal static readonly HttpClient It = new();
}

internal sealed class GetByteArray<TAccess> : Way where TAccess : IWhole {
    internal override async Task<long> Pass<TSum>(Origin from) =>
        (long)TSum.Answer(TAccess.Fold<TSum>(await Client.It.GetByteArrayAsync(from.Place)));
}

internal sealed class GetStream : Way {
    internal override async Task<long> Pass<TSum>(Origin from) {
        await using Stream body = await Client.It.GetStreamAsync(from.Place);
        return await Streamed.Read<TSum>(body, from.Chunk);
    }
}
