// `drain`: `size` tasks that wait, resumed and collected. All of them wait before the clock starts, so that what is timed is the
// price of a completion among many that still wait.

import TaskscaleProbe

/// The workload `drain`. Answer of an iteration: the number of tasks collected.
func declareDrain() {
    variant("drain", "group/reverse", note: "resumed last first") { run in await drainGroup(run, reversed: true) }
    variant("drain", "group/forward", note: "resumed in the order of creation") { run in
        await drainGroup(run, reversed: false)
    }
    variant("drain", "loose/reverse", note: "loose tasks, resumed last first") { run in await drainLoose(run) }
}

/// Continuations by the number of their task.
private actor Waiting {
    private var continuations: [CheckedContinuation<Void, Never>?]
    private var registered = 0
    private var all: CheckedContinuation<Void, Never>?

    init(size: Int) {
        continuations = Array(repeating: nil, count: size)
    }

    func register(_ index: Int, _ continuation: CheckedContinuation<Void, Never>) {
        continuations[index] = continuation
        registered += 1
        if registered == continuations.count { all?.resume() }
    }

    /// Returns when every task has registered.
    func untilAll() async {
        if registered < continuations.count { await withCheckedContinuation { all = $0 } }
    }

    /// All of them, in the order of creation.
    func taken() -> [CheckedContinuation<Void, Never>] {
        continuations.compactMap { $0 }
    }
}

private func wait(_ index: Int, in waiting: Waiting) async {
    await withCheckedContinuation { continuation in
        Task { await waiting.register(index, continuation) }
    }
}

private func drainGroup(_ run: Run, reversed: Bool) async -> Timing {
    await Timing.sum(of: run) { once in
        await withTaskGroup(of: Void.self) { group in
            let waiting = Waiting(size: run.size)
            for index in 0..<run.size { group.addTask { await wait(index, in: waiting) } }
            await waiting.untilAll()
            let continuations = await waiting.taken()
            return await once.time { _ in
                if reversed {
                    for continuation in continuations.reversed() { continuation.resume() }
                } else {
                    for continuation in continuations { continuation.resume() }
                }
                var collected: UInt64 = 0
                for await _ in group { collected += 1 }
                return collected
            }
        }
    }
}

private func drainLoose(_ run: Run) async -> Timing {
    await Timing.sum(of: run) { once in
        let waiting = Waiting(size: run.size)
        let tasks = (0..<run.size).map { index in Task.detached { await wait(index, in: waiting) } }
        await waiting.untilAll()
        let continuations = await waiting.taken()
        return await once.time { _ in
            for continuation in continuations.reversed() { continuation.resume() }
            var collected: UInt64 = 0
            for task in tasks {
                await task.value
                collected += 1
            }
            return collected
        }
    }
}
