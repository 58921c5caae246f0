using System.IO.MemoryMappedFiles;
using Microsoft.Win32.SafeHandles;

namespace Taskscale.Workloads.CSharp.Bytes;

internal sealed class ReadAllBytes<TAccess> : PlainWay where TAccess : IWhole {
    protected override ulong Read<TSum>(Origin from) => TSum.Answer(TAccess.Fold<TSum>(File.ReadAllBytes(from.Place)));
}

/// <summary>Without a buffer of the stream's own.</summary>
internal sealed class FileStreamRead<TAccess> : PlainWay where TAccess : IPiece {
    protected override ulong Read<TSum>(Origin from) {
        using var file = new FileStream(from.Place, FileMode.Open, FileAccess.Read, FileShare.Read, bufferSize: 0);
        byte[] buffer = new byte[from.Chunk];
        ulong state = TSum.Start;
        while (file.Read(buffer) is int count and > 0) state = TAccess.Fold<TSum>(buffer.AsSpan(0, count), state);
        return TSum.Answer(state);
    }
}

internal sealed class RandomAccessRead<TAccess> : PlainWay where TAccess : IPiece {
    protected override ulong Read<TSum>(Origin from) {
        using SafeFileHandle file = File.OpenHandle(from.Place);
        byte[] buffer = new byte[from.Chunk];
        ulong state = TSum.Start;
        for (long at = 0; RandomAccess.Read(file, buffer, at) is int count and > 0; at += count) {
            state = TAccess.Fold<TSum>(buffer.AsSpan(0, count), state);
        }
        return TSum.Answer(state);
    }
}

/// <summary>Bytes are fetched, and nobody looks at them.</summary>
internal sealed class Unread : PlainWay {
    protected override ulong Read<TSum>(Origin from) {
        using SafeFileHandle file = File.OpenHandle(from.Place);
        byte[] buffer = new byte[from.Chunk];
        ulong bytes = 0;
        for (long at = 0; RandomAccess.Read(file, buffer, at) is int count and > 0; at += count) {
            TSum.AtOnce(count);
            bytes += (ulong)count;
        }
        return bytes;
    }
}

internal sealed class ReadByte : PlainWay {
    protected override ulong Read<TSum>(Origin from) {
        using var file = new FileStream(from.Place, FileMode.Open, FileAccess.Read, FileShare.Read, from.Chunk);
        ulong state = TSum.Start;
        while (file.ReadByte() is int value and >= 0) state = TSum.Step(state, (byte)value);
        return TSum.Answer(state);
    }
}

internal sealed class MappedAccessor : PlainWay {
    protected override ulong Read<TSum>(Origin from) {
        using FileStream file = File.OpenRead(from.Place);
        // No file without a byte can be mapped.
        if (file.Length == 0) return TSum.Answer(TSum.Start);
        using var map = MemoryMappedFile.CreateFromFile(file, null, 0, MemoryMappedFileAccess.Read, HandleInheritability.None, true);
        using MemoryMappedViewAccessor view = map.CreateViewAccessor(0, file.Length, MemoryMappedFileAccess.Read);
        long length = file.Length;
        ulong state = TSum.Start;
        for (long at = 0; at < length; at++) state = TSum.Step(state, view.ReadByte(at));
        return TSum.Answer(state);
    }
}

internal sealed unsafe class MappedPointer : PlainWay {
    protected override ulong Read<TSum>(Origin from) {
        using FileStream file = File.OpenRead(from.Place);
        if (file.Length == 0) return TSum.Answer(TSum.Start);
        using var map = MemoryMappedFile.CreateFromFile(file, null, 0, MemoryMappedFileAccess.Read, HandleInheritability.None, true);
        using MemoryMappedViewAccessor view = map.CreateViewAccessor(0, file.Length, MemoryMappedFileAccess.Read);
        byte* start = null;
        view.SafeMemoryMappedViewHandle.AcquirePointer(ref start);
        try {
            start += view.PointerOffset;
            return TSum.Answer(Fold<TSum>(start, start + file.Length));
        }
        finally {
            view.SafeMemoryMappedViewHandle.ReleasePointer();
        }
    }

    private static ulong Fold<TSum>(byte* at, byte* end) where TSum : struct, ISum {
        ulong state = TSum.Start;
        for (; at < end; at++) state = TSum.Step(state, *at);
        return state;
    }
}
