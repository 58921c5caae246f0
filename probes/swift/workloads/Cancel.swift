// `cancel`: `size` tasks that all wait for what never comes, cancelled and collected, both of which is timed.

import TaskscaleProbe

/// The workload `cancel`. Answer of an iteration: the number of tasks that saw that they were cancelled.
func declareCancel() {
    param(
        "cancel", "on", "event", help: "what tasks wait for: an AsyncStream each, which gives nothing; an hour to pass",
        choices: ["event", "timer"])
    param("cancel", "first", "oldest", help: "which task is cancelled first", choices: ["oldest", "newest"])
    variant("cancel", "Task.cancel") { run in try await cancelLoose(run) }
    variant("cancel", "group.cancelAll", only: ["first": ["oldest"]]) { run in try await cancelGroup(run) }
}

/// What a task does: it waits on a stream of its own, or sleeps. It gives 1 if it was cancelled.
private func waiting(_ sleeps: Bool, _ parking: Parking) async -> UInt64 {
    if sleeps { return await parking.timer() }
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    parking.enter()
    for await _ in stream {}
    // Held until here: a stream that nobody can give to has ended.
    withExtendedLifetime(continuation) {}
    return Task.isCancelled ? 1 : 0
}

func cancelLoose(_ run: Run) async throws -> Timing {
    let (sleeps, newest) = (run.word("on") == "timer", run.word("first") == "newest")
    return try await Timing.sum(of: run) { once in
        let parking = Parking(0)
        var tasks = (0..<run.size).map { _ in Task { await waiting(sleeps, parking) } }
        try await parking.untilAll(run.size)
        if newest { tasks.reverse() }
        return await once.time { _ in
            for task in tasks { task.cancel() }
            var cancelled: UInt64 = 0
            for task in tasks { cancelled += await task.value }
            return cancelled
        }
    }
}

func cancelGroup(_ run: Run) async throws -> Timing {
    let sleeps = run.word("on") == "timer"
    return try await Timing.sum(of: run) { once in
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            let parking = Parking(0)
            for _ in 0..<run.size { group.addTask { await waiting(sleeps, parking) } }
            try await parking.untilAll(run.size)
            return try await once.time { _ in
                group.cancelAll()
                var cancelled: UInt64 = 0
                for try await one in group { cancelled += one }
                return cancelled
            }
        }
    }
}
