// `remote`: `size` tasks that threads hand to the runtime which are none of its pool. The threads are started before the timed
// part, and wait. Each iteration lets them go, all at once, and ends when the last task has run. A task adds one to a count.

import Dispatch
import Foundation
import Synchronization
import TaskscaleProbe

private let mostProducers: UInt64 = 64

/// The workload `remote`. Answer of an iteration: the number of tasks that have run.
func declareRemote() {
    param("remote", "producers", 1, help: "threads outside of the pool that share the tasks")
    variant("remote", "Task.detached") { run in
        try await fromThreads(run) { ran in Task.detached { ran.one() } }
    }
    variant("remote", "Task", note: "a thread has nothing that the task could inherit") { run in
        try await fromThreads(run) { ran in Task { ran.one() } }
    }
    variant("remote", "Task.detached/local", note: "tasks in place of the threads") { run in try await fromTasks(run) }
    variant("remote", "DispatchQueue.async", note: "closures for the global queue; no task of Swift's") { run in
        let queue = DispatchQueue.global()
        return try await fromThreads(run) { ran in queue.async { ran.one() } }
    }
}

/// The tasks of each producer: as even a share as can be.
private func shares(_ run: Run) throws -> [Int] {
    let producers = run.integer("producers")
    guard (1...mostProducers).contains(producers) else {
        throw Refused("producers is \(producers); give 1 to \(mostProducers)")
    }
    let all = Int(producers)
    return (0..<all).map { run.size / all + ($0 < run.size % all ? 1 : 0) }
}

/// Does all iterations while threads are there that call `hand` for each of their tasks whenever the gate opens.
private func fromThreads(_ run: Run, _ hand: @escaping @Sendable (Ran) -> Void) async throws -> Timing {
    let (each, ran, gate) = (try shares(run), Ran(run.size), Gate())
    for share in each {
        Thread.detachNewThread {
            var iteration = 1
            while gate.pass(iteration) {
                for _ in 0..<share { hand(ran) }
                iteration += 1
            }
        }
    }
    gate.awaitAll(each.count)
    defer { gate.close() }
    return await run.time { _ in await ran.once { gate.open() } }
}

/// Does all iterations with tasks that start the others.
private func fromTasks(_ run: Run) async throws -> Timing {
    let (each, ran) = (try shares(run), Ran(run.size))
    return await run.time { _ in
        await ran.once {
            for share in each {
                Task.detached { for _ in 0..<share { Task.detached { ran.one() } } }
            }
        }
    }
}

/// The tasks of an iteration. The last one resumes who waits.
private final class Ran: Sendable {
    private let all: Int
    private let count = Atomic<Int>(0)
    // Written before the tasks are handed over, and read by the last of them.
    nonisolated(unsafe) private var waits: CheckedContinuation<Void, Never>?

    init(_ all: Int) { self.all = all }

    /// What a task does.
    func one() {
        if count.add(1, ordering: .acquiringAndReleasing).newValue == all { waits?.resume() }
    }

    /// An iteration: `begin` has the tasks handed over. Gives how many have run.
    func once(_ begin: () -> Void) async -> UInt64 {
        count.store(0, ordering: .relaxed)
        await withCheckedContinuation { continuation in
            waits = continuation
            begin()
        }
        return UInt64(count.load(ordering: .acquiring))
    }
}

/// What producers wait at.
private final class Gate: @unchecked Sendable {
    private let changed = NSCondition()
    private var (opened, came, closed) = (0, 0, false)

    private func change(_ body: () -> Void) {
        changed.lock()
        body()
        changed.broadcast()
        changed.unlock()
    }

    /// Opens it for the next iteration.
    func open() { change { opened += 1 } }

    /// Lets producers end, and waits until they go.
    func close() {
        change { closed = true }
        changed.lock()
        while came > 0 { changed.wait() }
        changed.unlock()
    }

    /// Waits until it was opened so often. Gives whether it was.
    func pass(_ iteration: Int) -> Bool {
        if iteration == 1 { change { came += 1 } }
        changed.lock()
        defer { changed.unlock() }
        while opened < iteration && !closed { changed.wait() }
        if opened >= iteration { return true }
        came -= 1
        changed.broadcast()
        return false
    }

    /// Waits until so many have come.
    func awaitAll(_ producers: Int) {
        changed.lock()
        defer { changed.unlock() }
        while came < producers { changed.wait() }
    }
}
