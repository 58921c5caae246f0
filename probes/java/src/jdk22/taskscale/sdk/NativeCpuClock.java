package taskscale.sdk;

import java.io.File;
import java.lang.foreign.*;
import java.lang.invoke.MethodHandle;
import java.util.function.LongUnaryOperator;

/**
 * {@code clock_gettime(CLOCK_PROCESS_CPUTIME_ID)}: exact to the nanosecond, where the management bean of many JDKs
 * steps by 10 ms. Linked when this class is loaded, which the description does: long before anything is timed.
 */
public final class NativeCpuClock implements LongUnaryOperator {
    // <time.h>: 2 on Linux, 12 on macOS. Anywhere else the constructor fails and the bean serves.
    private static final int CLOCK_PROCESS_CPUTIME_ID = System.getProperty("os.name").equals("Linux") ? 2 : 12;
    private static final MethodHandle CLOCK_GETTIME = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("clock_gettime").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
    // struct timespec of 64-bit systems. One for all threads: the clock is read by the thread that serves requests.
    private static final MemorySegment TIMESPEC = Arena.global().allocate(ValueLayout.JAVA_LONG, 2);

    private static final int CLOCK_THREAD_CPUTIME_ID = 3, MOST_THREADS = 256;

    public NativeCpuClock() {
        if (read(CLOCK_PROCESS_CPUTIME_ID) <= 0) throw new IllegalStateException("clock_gettime does not know this process's CPU time");
    }

    /** {@code when}: one of {@link Clock}'s. */
    public long applyAsLong(long when) {
        if (when == Clock.ROUGH || CLOCK_PROCESS_CPUTIME_ID != 2) return read(CLOCK_PROCESS_CPUTIME_ID);
        long begun = read(CLOCK_THREAD_CPUTIME_ID);
        countRunningThreads();
        long took = when == Clock.END ? read(CLOCK_THREAD_CPUTIME_ID) - begun : 0;
        return read(CLOCK_PROCESS_CPUTIME_ID) - took;
    }

    /*
     * Brings the clock of the process up to date. It is the sum over the threads, and Linux counts what a thread is using on
     * another CPU at its tick only, every 4 ms at 250 Hz: one that still looks for tasks when the last one is done is short
     * of 2 ms on average. Asking for the clock of a thread counts its time at once. Threads that sleep are up to date; of so
     * many that most must sleep, the first are asked.
     */
    private static void countRunningThreads() {
        String[] threads = new File("/proc/self/task").list();
        if (threads == null) return;
        for (int i = 0; i < Math.min(threads.length, MOST_THREADS); i++) {
            // The number of a thread's clock, as pthread_getcpuclockid makes it.
            read(~Integer.parseInt(threads[i]) << 3 | 6);
        }
    }

    private static long read(int clock) {
        try {
            if ((int) CLOCK_GETTIME.invokeExact(clock, TIMESPEC) != 0) return -1;
        } catch (Throwable thrown) {
            throw new AssertionError("a call of C throws nothing", thrown);
        }
        long seconds = TIMESPEC.getAtIndex(ValueLayout.JAVA_LONG, 0);
        return seconds * 1_000_000_000 + TIMESPEC.getAtIndex(ValueLayout.JAVA_LONG, 1);
    }
}
