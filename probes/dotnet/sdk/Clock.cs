using System.Diagnostics;
using System.Runtime.InteropServices;

namespace Taskscale;

/// <summary>The two clocks, both in nanoseconds.</summary>
public static class Clock {
    private static readonly long NsPerTick = 1_000_000_000 / Stopwatch.Frequency;
    // CLOCK_PROCESS_CPUTIME_ID, and CLOCK_THREAD_CPUTIME_ID of Linux.
    private static readonly int ProcessCpu = OperatingSystem.IsMacOS() ? 12 : 2;
    private const int ThreadCpu = 3;

    /// <summary>Monotonic. Costs about 28 ns.</summary>
    public static long WallNs() => Stopwatch.GetTimestamp() * NsPerTick;

    /// <summary>
    /// CPU that all threads of this process have used, user and system. Costs a system call, about 550 ns. What runs on another
    /// CPU may be short of a tick.
    /// </summary>
    public static long CpuNs() => Read(ProcessCpu);

    /// <summary>The same where a sample begins: exact, for some 50 us. The wall clock is read behind it.</summary>
    public static long CpuBeginNs() {
        Threads.Count();
        return CpuNs();
    }

    /// <summary>The same where it ends, without what this call takes. The wall clock is read before it.</summary>
    public static long CpuEndNs() {
        if (!OperatingSystem.IsLinux()) return CpuNs();
        long begun = Read(ThreadCpu);
        Threads.Count();
        long took = Read(ThreadCpu) - begun;
        return CpuNs() - took;
    }

    private static long Read(int clock) =>
        clock_gettime(clock, out Timespec time) == 0
            ? time.Seconds * 1_000_000_000 + time.Nanoseconds
            : throw new PlatformNotSupportedException("the system has no clock of a process's CPU time");

    /// <summary>
    /// The smallest step that a clock was seen to make, cost of reading it included: in 10,000 steps (so many that the
    /// reading is compiled), or 50 ms where the clock is coarse.
    /// </summary>
    internal static long ResolutionNs(Func<long> clock) {
        long smallest = long.MaxValue, end = WallNs() + 50_000_000;
        for (int steps = 0; steps < 10_000 && (smallest == long.MaxValue || WallNs() < end); steps++) {
            long start = clock(), now = start;
            while (now == start) now = clock();
            smallest = Math.Min(smallest, now - start);
        }
        return smallest;
    }

    internal struct Timespec {
        internal nint Seconds;
        internal nint Nanoseconds;
    }

    [DllImport("libc")]
    internal static extern int clock_gettime(int clock, out Timespec time);
}
