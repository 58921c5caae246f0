package taskscale.workloads;

/**
 * What tasks do. The command line keeps the compiler from inlining {@code product} and {@code spin}
 * ({@code README.md}, "Build").
 */
public final class Kernel {
    // Read anew each time, since it might change; it never does, so that the store below is never made.
    private static long never = 1;
    private static long kept;

    private Kernel() {}

    /** {@code 31 * i}. */
    public static long product(long i) {
        return 31 * i;
    }

    /** {@code steps} dependent steps of {@code xorshift64}, started at {@code splitmix(seed)}. About 2 ns a step. */
    public static long spin(long seed, long steps) {
        long x = splitmix(seed);
        for (long done = 0; done != steps; done++) {
            x ^= x << 13;
            x ^= x >>> 7;
            x ^= x << 17;
        }
        return x;
    }

    /** {@code splitmix64}'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13). */
    private static long splitmix(long seed) {
        long z = seed + 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }

    /** Throws a result away in a way that the compiler cannot skip, for the price of a comparison. */
    public static void discard(long result) {
        if (result == never) {
            kept = result;
        }
    }
}
