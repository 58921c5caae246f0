// `blocking`: `size` tasks, started at once, of which one in so many blocks for a while: what do the others wait? A task tells
// how long it was ready before it ran.

import Dispatch
import Foundation
import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a task does that blocks.
enum Call: Sendable {
    case without, inline, queue, thread, sleep

    func block(_ us: UInt64) async throws {
        switch self {
        case .without: break
        case .inline: nap(us)
        case .queue:
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                DispatchQueue.global().async {
                    nap(us)
                    done.resume()
                }
            }
        case .thread:
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                Thread.detachNewThread {
                    nap(us)
                    done.resume()
                }
            }
        case .sleep: try await Task.sleep(for: .microseconds(us))
        }
    }
}

/// Blocks the thread.
private func nap(_ us: UInt64) { usleep(UInt32(clamping: us)) }

/// The workload `blocking`. Answer of an iteration: the number of tasks done.
func declareBlocking() {
    param("blocking", "block_us", 1_000, help: "how long a task blocks that does, in microseconds")
    param("blocking", "every", 100, help: "one task in so many blocks, the first of them")
    variant("blocking", "without", note: "no task blocks") { try await blocking($0, .without) }
    variant("blocking", "inline", note: "usleep on a thread of the pool") { try await blocking($0, .inline) }
    variant("blocking", "DispatchQueue", note: "usleep on a thread of the global queue, and awaited") {
        try await blocking($0, .queue)
    }
    variant("blocking", "Thread", note: "usleep on a thread made for it, and awaited") {
        try await blocking($0, .thread)
    }
    variant("blocking", "Task.sleep", note: "no thread blocks: a timer") { try await blocking($0, .sleep) }
}

/// Does all iterations.
func blocking(_ run: Run, _ way: Call) async throws -> Timing {
    let (every, us) = (Int(run.integer("every")), run.integer("block_us"))
    var waits: [UInt64] = []
    var blocked: UInt64 = 0
    var timing = try await run.timeEach({}) { _, _ in
        var tasks: [Task<(wait: UInt64, blocked: Bool), Error>] = []
        tasks.reserveCapacity(run.size)
        for i in 0..<run.size {
            let (ready, blocks) = (wallNs(), way != .without && i % every == 0)
            tasks.append(
                Task {
                    let wait = wallNs() - ready
                    if blocks { try await way.block(us) }
                    return (wait, blocks)
                })
        }
        for task in tasks {
            let told = try await task.value
            waits.append(told.wait)
            if told.blocked { blocked += 1 }
        }
        return UInt64(tasks.count)
    }
    waits.sort()
    // The smallest wait that so many percent do not exceed.
    func least(_ percent: Int) -> Json { .integer(waits[(waits.count * percent + 99) / 100 - 1]) }
    timing.extra["wait_p50_ns"] = least(50)
    timing.extra["wait_p99_ns"] = least(99)
    timing.extra["wait_max_ns"] = least(100)
    timing.extra["blocked"] = .integer(blocked)
    return timing
}
