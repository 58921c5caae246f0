using System.Numerics;
using System.Runtime.InteropServices;

namespace Taskscale.Workloads.CSharp.Bytes;

/// <summary>A sum over bytes, by its step. A way of reading is compiled for each, which is a struct for that.</summary>
internal interface ISum {
    static abstract ulong Start { get; }
    static abstract ulong Step(ulong state, byte value);
    static abstract ulong Answer(ulong state);
    /// <summary>So many bytes were added at once, and not by steps.</summary>
    static abstract void AtOnce(int bytes);
}

/// <summary>The sum of all bytes modulo 256.</summary>
internal readonly struct Sum8 : ISum {
    public static ulong Start => 0;
    public static ulong Step(ulong sum, byte value) => sum + value;
    public static ulong Answer(ulong sum) => sum & 255;
    public static void AtOnce(int bytes) { }
}

/// <summary>FNV-1a of 64 bits.</summary>
internal readonly struct Fnv : ISum {
    public static ulong Start => 0xCBF29CE484222325;
    public static ulong Step(ulong hash, byte value) => (hash ^ value) * 0x100000001B3;
    public static ulong Answer(ulong hash) => hash;
    public static void AtOnce(int bytes) { }
}

/// <summary>The same of an instrumented run, which counts each byte.</summary>
internal readonly struct Counted<TSum> : ISum where TSum : struct, ISum {
    public static ulong Start => TSum.Start;
    public static ulong Step(ulong state, byte value) {
        Consumed.Bytes++;
        return TSum.Step(state, value);
    }
    public static ulong Answer(ulong state) => TSum.Answer(state);
    public static void AtOnce(int bytes) => Consumed.Bytes += bytes;
}

/// <summary>How many bytes an instrumented run has consumed. One thread at a time does.</summary>
internal static class Consumed {
    internal static long Bytes;
}

/// <summary>A form of iteration over bytes that are all in one array.</summary>
internal interface IWhole {
    static abstract ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum;
}

/// <summary>A form of iteration over bytes that come in pieces.</summary>
internal interface IPiece {
    static abstract ulong Fold<TSum>(ReadOnlySpan<byte> bytes, ulong state) where TSum : struct, ISum;
}

internal readonly struct For : IWhole {
    public static ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum {
        ulong state = TSum.Start;
        for (int i = 0; i < bytes.Length; i++) state = TSum.Step(state, bytes[i]);
        return state;
    }
}

internal readonly struct ForEach : IWhole {
    public static ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum {
        ulong state = TSum.Start;
        foreach (byte value in bytes) state = TSum.Step(state, value);
        return state;
    }
}

internal readonly struct Span : IWhole, IPiece {
    public static ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum => Fold<TSum>(bytes, TSum.Start);

    public static ulong Fold<TSum>(ReadOnlySpan<byte> bytes, ulong state) where TSum : struct, ISum {
        foreach (byte value in bytes) state = TSum.Step(state, value);
        return state;
    }
}

internal readonly struct Aggregate : IWhole {
    public static ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum =>
        bytes.Aggregate(TSum.Start, (state, value) => TSum.Step(state, value));
}

/// <summary>LINQ's own sum, which is no FNV.</summary>
internal readonly struct Sum : IWhole {
    public static ulong Fold<TSum>(byte[] bytes) where TSum : struct, ISum =>
        (ulong)bytes.Sum(value => (long)TSum.Step(0, value));
}

/// <summary>As many bytes at once as the processor has lanes, each with a sum of its own; no FNV.</summary>
internal readonly struct Vectors : IPiece {
    public static ulong Fold<TSum>(ReadOnlySpan<byte> bytes, ulong state) where TSum : struct, ISum {
        int whole = bytes.Length - bytes.Length % Vector<byte>.Count;
        var lanes = Vector<byte>.Zero;
        foreach (Vector<byte> several in MemoryMarshal.Cast<byte, Vector<byte>>(bytes)) lanes += several;
        TSum.AtOnce(whole);
        return Span.Fold<TSum>(bytes[whole..], state + Vector.Sum(lanes));
    }
}
