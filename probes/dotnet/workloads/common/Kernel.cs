using System.Runtime.CompilerServices;

namespace Taskscale.Workloads;

/// <summary>What tasks do.</summary>
public static class Kernel {
    // Read anew each time, since it might change; it never does, so that the store below is never made.
    private static long never = 1;
    private static long kept;

    /// <summary><c>31 * i</c>.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Product(long i) => 31 * i;

    /// <summary>Dependent steps of <c>xorshift64</c>, started at <c>splitmix(seed)</c>. About 2 ns a step.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public static long Spin(long seed, long steps) {
        ulong x = SplitMix((ulong)seed);
        for (long done = 0; done != steps; done++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        return (long)x;
    }

    /// <summary><c>splitmix64</c>'s output function (Steele, Lea and Flood 2014; Stafford's mix 13).</summary>
    private static ulong SplitMix(ulong seed) {
        ulong z = seed + 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

    /// <summary>Throws a result away in a way that the compiler cannot skip, for the price of a comparison.</summary>
    public static void Discard(long result) {
        if (result == never) kept = result;
    }

    /// <summary>What was kept, so that keeping it is of use to somebody.</summary>
    public static long Kept => kept;
}
