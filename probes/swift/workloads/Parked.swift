// `parked`: `size` tasks that all wait, and are woken and collected. What is timed is the waking; what tasks hold while they
// wait is read where the request asks for it.

import TaskscaleProbe

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A task sleeps for so long, and is cancelled before.
private let hour = Duration.seconds(3600)

/// The workload `parked`. Answer of an iteration: the number of tasks that were woken.
func declareParked() {
    param(
        "parked", "on", "event", help: "what tasks wait for: a continuation each; an hour to pass, which is cancelled",
        choices: ["event", "timer"])
    param(
        "parked", "resident", false,
        help: "also reads the memory of the process: before the first task, and while all wait")
    variant("parked", "Task") { run in try await parkedLoose(run) }
    variant("parked", "group") { run in try await parkedGroup(run) }
}

/// Who waits: the continuations of tasks that wait for an event, and how many have said that they wait.
final class Parking: @unchecked Sendable {
    private var mutex = pthread_mutex_t()
    private var continuations: [CheckedContinuation<Void, Never>] = []
    private var count = 0

    init(_ size: Int) {
        pthread_mutex_init(&mutex, nil)
        continuations.reserveCapacity(size)
    }

    deinit { pthread_mutex_destroy(&mutex) }

    private func locked<T>(_ body: () -> T) -> T {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        return body()
    }

    /// Waits until it is woken. The task is suspended before its continuation is known, so who has it may resume it.
    func event() async -> UInt64 {
        await withCheckedContinuation { continuation in
            locked {
                continuations.append(continuation)
                count += 1
            }
        }
        return 1
    }

    /// Says that a task begins to wait.
    func enter() { locked { count += 1 } }

    /// Sleeps; gives 0 if it was not cut short.
    func timer() async -> UInt64 {
        enter()
        do {
            try await Task.sleep(for: hour)
            return 0
        } catch { return 1 }
    }

    /// How many wait.
    var waiting: Int { locked { count } }

    /// Returns when all wait, or throws where they do not. None can go on before `wake`: who waits for the event has no
    /// other that resumes it.
    func untilAll(_ size: Int) async throws {
        var (seen, idle) = (0, 0)
        while waiting < size && idle < 5_000 {
            idle = waiting > seen ? 0 : idle + 1
            seen = waiting
            try await Task.sleep(for: .milliseconds(1))
        }
        // What sleeps has said so just before.
        try await Task.sleep(for: .milliseconds(5))
        let count = waiting
        if count != size { throw Refused("\(count) of \(size) tasks wait, and no further one begins to") }
    }

    /// Wakes all that wait for the event.
    func wake() {
        let all = locked { continuations }
        for continuation in all { continuation.resume() }
    }
}

/// Adds up the iterations of a run, each of which sets up by itself and times its waking.
private func parked(_ run: Run, _ one: (Run, Watch) async throws -> Timing) async throws -> Timing {
    let watch = Watch(run)
    var sum = try await Timing.sum(of: run) { once in
        try watch.read("resident_before")
        return try await one(once, watch)
    }
    sum.extra = watch.extra
    if run.verify || watch.isResident { sum.extra["waiting"] = .integer(UInt64(run.size)) }
    return sum
}

/// What is read of the memory of the process.
private final class Watch {
    let isResident: Bool
    var extra: [String: Json] = [:]

    init(_ run: Run) { isResident = run.params["resident"] == true }

    /// In the first iteration alone: later ones find a heap that has held tasks before.
    func read(_ name: String) throws {
        if isResident && extra[name] == nil { extra[name] = .integer(try resident()) }
    }
}

private func parkedLoose(_ run: Run) async throws -> Timing {
    let sleeps = run.word("on") == "timer"
    return try await parked(run) { once, watch in
        let parking = Parking(sleeps ? 0 : run.size)
        let tasks = (0..<run.size).map { _ in
            Task { sleeps ? await parking.timer() : await parking.event() }
        }
        try await parking.untilAll(run.size)
        try watch.read("resident_waiting")
        return await once.time { _ in
            if sleeps { for task in tasks { task.cancel() } } else { parking.wake() }
            var woken: UInt64 = 0
            for task in tasks { woken += await task.value }
            return woken
        }
    }
}

private func parkedGroup(_ run: Run) async throws -> Timing {
    let sleeps = run.word("on") == "timer"
    return try await parked(run) { once, watch in
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            let parking = Parking(sleeps ? 0 : run.size)
            for _ in 0..<run.size {
                group.addTask { sleeps ? await parking.timer() : await parking.event() }
            }
            try await parking.untilAll(run.size)
            try watch.read("resident_waiting")
            return try await once.time { _ in
                if sleeps { group.cancelAll() } else { parking.wake() }
                var woken: UInt64 = 0
                for try await one in group { woken += one }
                return woken
            }
        }
    }
}

/// Resident bytes of this process. `smaps_rollup` counts pages; the kernel's running totals lag behind.
private func resident() throws -> UInt64 {
    let text = try String(contentsOfFile: "/proc/self/smaps_rollup", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("Rss:") }
    guard let kib = line?.split(separator: " ").dropFirst().first.flatMap({ UInt64($0) }) else {
        throw Refused("/proc/self/smaps_rollup has no line Rss")
    }
    return kib * 1024
}
