namespace Taskscale;

/// <summary>Brings the clock of the process up to date.</summary>
internal static class Threads {
    private const int Most = 256;

    // Brings the clock of the process up to date. It is the sum over the threads, and Linux counts what a thread is using on
    // another CPU at its tick only, every 4 ms at 250 Hz: one that still looks for tasks when the last one is done is short of
    // 2 ms on average. Asking for the clock of a thread counts its time at once. Threads that sleep are up to date; of so many
    // that most must sleep, the first are asked.
    internal static void Count() {
        if (!OperatingSystem.IsLinux()) return;
        int asked = 0;
        foreach (string task in Directory.EnumerateDirectories("/proc/self/task")) {
            // The number of a thread's clock, as pthread_getcpuclockid makes it. A thread that has ended has counted its time.
            if (int.TryParse(task.AsSpan(task.LastIndexOf('/') + 1), out int thread)) Clock.clock_gettime(~thread << 3 | 6, out _);
            if (++asked == Most) break;
        }
    }
}
