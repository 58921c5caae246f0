// `idle`: `size` milliseconds are watched, while `rate` tasks arrive a second. Task i arrives i steps of `1000 / rate`
// milliseconds after the beginning, however late the one before it was, and gives a step, of which the count is the sum. A few a
// millisecond apart come before, untimed: threads start at the first of them.

import Dispatch
import Foundation
import TaskscaleProbe

/// The workload `idle`. Answer of an iteration: the count.
func declareIdle() {
    param("idle", "rate", 1_000, help: "tasks that arrive a second: 1, 10, 100 or 1000")
    variant("idle", "Task.sleep/Task", note: "a task sleeps, and starts the others") { try await idle($0, unstructured) }
    variant("idle", "Task.sleep/addTask", note: "the same, as children of a group") { try await idle($0, grouped) }
    variant("idle", "outside/Task", note: "a thread sleeps") { try await idle($0, outside) }
}

/// Starts so many tasks, so many milliseconds apart, and gives the sum of what they gave.
private typealias Arriving = @Sendable (_ number: Int, _ step: Int) async throws -> UInt64

private func idle(_ run: Run, _ arriving: Arriving) async throws -> Timing {
    let rate = Int(run.integer("rate"))
    guard [1, 10, 100, 1_000].contains(rate) else { throw Refused("rate is \(rate); give 1, 10, 100 or 1000") }
    let step = 1_000 / rate
    guard run.size % step == 0 else {
        throw Refused("in \(run.size) ms no whole number of tasks arrives at \(rate) a second")
    }
    _ = try await arriving(20, 1)
    return try await run.time { _ in try await arriving(run.size / step, step) }
}

@Sendable private func unstructured(_ number: Int, _ step: Int) async throws -> UInt64 {
    let begun = ContinuousClock.now
    var tasks: [Task<UInt64, Never>] = []
    tasks.reserveCapacity(number)
    for i in 1...number {
        try await Task.sleep(until: begun + .milliseconds(i * step), clock: .continuous)
        tasks.append(Task { UInt64(step) })
    }
    return await sum(tasks)
}

private func sum(_ tasks: [Task<UInt64, Never>]) async -> UInt64 {
    var sum: UInt64 = 0
    for task in tasks { sum += await task.value }
    return sum
}

@Sendable private func grouped(_ number: Int, _ step: Int) async throws -> UInt64 {
    try await withThrowingTaskGroup(of: UInt64.self) { group in
        let begun = ContinuousClock.now
        for i in 1...number {
            try await Task.sleep(until: begun + .milliseconds(i * step), clock: .continuous)
            group.addTask { UInt64(step) }
        }
        return try await group.reduce(0, +)
    }
}

/// A thread that is none of the pool.
@Sendable private func outside(_ number: Int, _ step: Int) async throws -> UInt64 {
    let tasks = await withCheckedContinuation { (done: CheckedContinuation<[Task<UInt64, Never>], Never>) in
        Thread.detachNewThread {
            let begun = DispatchTime.now().uptimeNanoseconds
            var tasks: [Task<UInt64, Never>] = []
            tasks.reserveCapacity(number)
            for i in 1...number {
                let due = begun + UInt64(i * step) * 1_000_000
                var now = DispatchTime.now().uptimeNanoseconds
                while now < due {
                    Thread.sleep(forTimeInterval: Double(due - now) / 1e9)
                    now = DispatchTime.now().uptimeNanoseconds
                }
                tasks.append(Task { UInt64(step) })
            }
            done.resume(returning: tasks)
        }
    }
    return await sum(tasks)
}
