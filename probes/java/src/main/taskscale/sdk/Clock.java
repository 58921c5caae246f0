package taskscale.sdk;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/** The two clocks, both in nanoseconds. */
public final class Clock {
    static final long ROUGH = 0, BEGIN = 1, END = 2;
    private static final LongUnaryOperator CPU = cpuClock();

    /** Monotonic. Costs about 25 ns. */
    public static long wallNs() { return System.nanoTime(); }

    /**
     * CPU that all threads of this process have used, user and system. Costs a system call, about 400 ns. What runs on
     * another CPU may be short of a tick.
     */
    public static long cpuNs() { return CPU.applyAsLong(ROUGH); }

    /** The same where a sample begins: exact, for some 50 us. The wall clock is read behind it. */
    public static long cpuBeginNs() { return CPU.applyAsLong(BEGIN); }

    /** The same where it ends, without what this call takes. The wall clock is read before it. */
    public static long cpuEndNs() { return CPU.applyAsLong(END); }

    /**
     * The smallest step that {@code clock} was seen to make, cost of reading it included: in 10,000 steps (so many that
     * the reading is compiled), or 50 ms where the clock is coarse.
     */
    static long resolutionNs(LongSupplier clock) {
        long smallest = Long.MAX_VALUE, end = wallNs() + 50_000_000;
        for (int steps = 0; steps < 10_000 && (smallest == Long.MAX_VALUE || wallNs() < end); steps++) {
            long start = clock.getAsLong(), now = start;
            while (now == start) now = clock.getAsLong();
            smallest = Math.min(smallest, now - start);
        }
        return smallest;
    }

    /** The operating system's own clock where this JDK (22 or later) can call it, else that of the management bean. */
    private static LongUnaryOperator cpuClock() {
        try {
            return (LongUnaryOperator) Class.forName("taskscale.sdk.NativeCpuClock").getConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError | RuntimeException absent) {
            var bean = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return when -> bean.getProcessCpuTime();
        }
    }
}
