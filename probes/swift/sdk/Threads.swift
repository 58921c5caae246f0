// Brings the clock of the process up to date.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Brings the clock of the process up to date. It is the sum over the threads, and Linux counts what a thread is using on
/// another CPU at its tick only, every 4 ms at 250 Hz: one that still looks for tasks when the last one is done is short of
/// 2 ms on average. Asking for the clock of a thread counts its time at once. Threads that sleep are up to date; of so many
/// that most must sleep, the first are asked.
func countRunningThreads() {
    #if os(Linux)
    guard let tasks = opendir("/proc/self/task") else { return }
    for _ in 0..<256 {
        guard let entry = readdir(tasks) else { break }
        let thread = withUnsafePointer(to: &entry.pointee.d_name) {
            atoi(UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
        }
        // The number of a thread's clock, as pthread_getcpuclockid makes it.
        if thread > 0 { _ = read(clockid_t(~thread << 3 | 6)) }
    }
    closedir(tasks)
    #endif
}
