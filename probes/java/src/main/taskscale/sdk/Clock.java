package taskscale.sdk;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/** The two clocks, both in nanoseconds. */
public final class Clock {
    private static final LongSupplier CPU = cpuClock();

    /** Monotonic. Costs about 25 ns. */
    public static long wallNs() { return System.nanoTime(); }

    /** CPU that all threads of this process have used, user and system. Costs a system call, about 400 ns. */
    public static long cpuNs() { return CPU.getAsLong(); }

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
    private static LongSupplier cpuClock() {
        try {
            return (LongSupplier) Class.forName("taskscale.sdk.NativeCpuClock").getConstructor().newInstance();
        } catch (ReflectiveOperationException | LinkageError | RuntimeException absent) {
            return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())::getProcessCpuTime;
        }
    }
}
