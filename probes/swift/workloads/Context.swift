// `context`: `size` awaits, behind each of which a task reads one of the `variables` task-local values that it has set. Two
// tasks share the awaits, each with values of its own, so a value of another task is wrong. Without variables nothing is read.

import TaskscaleProbe

/// The workload `context`. Answer of an iteration: the number of awaits behind which the value was right.
func declareContext() {
    param("context", "variables", 1, help: "task-local values that are set: 0, 1 or 8")
    variant("context", "TaskLocal", createsTask: false, note: "Task.yield()") { try await context($0, suspending) }
    variant("context", "TaskLocal/async_let", note: "a child task for each await, which finds the values of its parent") {
        try await context($0, asyncLet)
    }
    variant("context", "TaskLocal/Task", note: "an unstructured task for each await, which has a copy of all values") {
        try await context($0, unstructured)
    }
}

private enum Locals {
    @TaskLocal static var a: UInt64 = 0
    @TaskLocal static var b: UInt64 = 0
    @TaskLocal static var c: UInt64 = 0
    @TaskLocal static var d: UInt64 = 0
    @TaskLocal static var e: UInt64 = 0
    @TaskLocal static var f: UInt64 = 0
    @TaskLocal static var g: UInt64 = 0
    @TaskLocal static var h: UInt64 = 0
    static let all = [$a, $b, $c, $d, $e, $f, $g, $h]
}

/// A share of the awaits: how many, the value of the first variable, and how many variables there are.
private struct Share {
    let awaits: Int
    let first: UInt64
    let count: Int

    /// Whether that variable has its value here. Without variables nothing is read.
    func holds(_ variable: Int) -> Bool { count == 0 || Locals.all[variable].get() == first + UInt64(variable) }
}

private typealias Awaiting = @Sendable (Share) async -> UInt64

private func context(_ run: Run, _ form: @escaping Awaiting) async throws -> Timing {
    let count = Int(run.integer("variables"))
    guard [0, 1, 8].contains(count) else { throw Refused("variables is \(count); give 0, 1 or 8") }
    return await run.time { _ in
        await withTaskGroup(of: UInt64.self) { group in
            for (first, awaits) in [(1000, run.size / 2), (2000, run.size - run.size / 2)] as [(UInt64, Int)] {
                group.addTask { await within(Share(awaits: awaits, first: first, count: count), form) }
            }
            return await group.reduce(0, +)
        }
    }
}

/// Calls `form` where the variables have their values.
private func within(_ share: Share, _ form: @escaping Awaiting, from at: Int = 0) async -> UInt64 {
    if at == share.count { return await form(share) }
    return await Locals.all[at].withValue(share.first + UInt64(at)) { await within(share, form, from: at + 1) }
}

/// Gives way to others, and then reads.
@Sendable private func suspending(_ share: Share) async -> UInt64 {
    var right: UInt64 = 0
    var at = 0
    for _ in 0..<share.awaits {
        await Task.yield()
        if share.holds(at) { right += 1 }
        at = at + 1 < share.count ? at + 1 : 0
    }
    return right
}

/// Awaits a child task that reads.
@Sendable private func asyncLet(_ share: Share) async -> UInt64 {
    var right: UInt64 = 0
    var at = 0
    for _ in 0..<share.awaits {
        let variable = at
        async let holds = share.holds(variable)
        if await holds { right += 1 }
        at = at + 1 < share.count ? at + 1 : 0
    }
    return right
}

/// Awaits a task beside this one that reads.
@Sendable private func unstructured(_ share: Share) async -> UInt64 {
    var right: UInt64 = 0
    var at = 0
    for _ in 0..<share.awaits {
        let variable = at
        if await Task(operation: { share.holds(variable) }).value { right += 1 }
        at = at + 1 < share.count ? at + 1 : 0
    }
    return right
}
