// What an instrumented run counts. Never part of a run whose time is kept.

import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Executions, their results, and where and how many at once they were. All behind one lock.
final class Count: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var (executions, sum): (UInt64, UInt64) = (0, 0)
    private var (live, maxLive): (UInt64, UInt64) = (0, 0)
    private var workers: Set<pthread_t> = []

    init() {
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// A task has been created; to be called by its creator, before.
    func created() {
        locked {
            live += 1
            maxLive = max(maxLive, live)
        }
    }

    /// A task has been done, with that result; to be called by the task, last.
    func executed(_ result: UInt64) {
        locked {
            sum &+= result
            executions += 1
            workers.insert(pthread_self())
            live -= 1
        }
    }

    /// The sum of the results since it was last taken.
    func takeSum() -> UInt64 {
        locked {
            defer { sum = 0 }
            return sum
        }
    }

    /// Adds what was counted to `extra`, unless tasks are missing or too many.
    func report(_ run: Run, _ timing: Timing) throws -> Timing {
        let expected = UInt64(run.size) &* UInt64(run.iterations)
        if executions != expected {
            throw Refused("\(executions) tasks were executed, \(expected) were asked for")
        }
        var timing = timing
        timing.extra["executed"] = .integer(executions)
        timing.extra["max_live"] = .integer(maxLive)
        timing.extra["workers_seen"] = .integer(UInt64(workers.count))
        return timing
    }

    private func locked<T>(_ change: () -> T) -> T {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return change()
    }
}
