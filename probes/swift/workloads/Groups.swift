// Task groups. With a window, one that gives results starts a task whenever one is done.

import TaskscaleProbe

/// `withTaskGroup`, results added up in the order of completion; `discard`: children without results, `waitForAll`.
struct Group: Form {
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let (size, window) = (plan.size, plan.window)
        if plan.order == .discard {
            return await plan.time { phases in
                await withTaskGroup(of: Void.self) { group in
                    for i in 0..<size {
                        if i >= window { await group.next() }
                        body.created()
                        group.addTask { body.discard(i) }
                    }
                    phases.created()
                    await group.waitForAll()
                }
                return body.discarded(size)
            }
        }
        return await plan.time { phases in
            await withTaskGroup(of: UInt64.self) { group in
                var sum: UInt64 = 0
                for i in 0..<size {
                    if i >= window, let result = await group.next() { sum &+= result }
                    body.created()
                    group.addTask { body.result(i) }
                }
                phases.created()
                for await result in group { sum &+= result }
                return sum
            }
        }
    }
}

/// `withTaskGroup` of (index, value), scattered into an array.
struct GroupOrdered: Form {
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let (size, window) = (plan.size, plan.window)
        return try await plan.time { phases in
            let results = await withTaskGroup(of: (Int, UInt64).self) { group in
                var results = [UInt64](repeating: 0, count: size)
                for i in 0..<size {
                    if i >= window, let (index, value) = await group.next() { results[index] = value }
                    body.created()
                    group.addTask { (i, body.result(i)) }
                }
                phases.created()
                for await (index, value) in group { results[index] = value }
                return results
            }
            return try body.ordered(results)
        }
    }
}

/// `withDiscardingTaskGroup`, which frees each child as it ends. It tells nobody, so with a window one group follows
/// another.
struct Discarding: Form {
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let (size, window) = (plan.size, plan.window)
        return await plan.time { phases in
            for start in stride(from: 0, to: size, by: window) {
                await withDiscardingTaskGroup { group in
                    for i in start..<min(start + window, size) {
                        body.created()
                        group.addTask { body.discard(i) }
                    }
                    phases.created()
                }
            }
            return body.discarded(size)
        }
    }
}

/// A group of one task per worker, each doing its share of the units.
struct Chunks: Form {
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let size = plan.size
        let chunks = workers()
        let share = (size + chunks - 1) / chunks
        if plan.order == .discard {
            return await plan.time { phases in
                await withTaskGroup(of: Void.self) { group in
                    for start in stride(from: 0, to: size, by: share) {
                        group.addTask {
                            for i in start..<min(start + share, size) {
                                body.created()
                                body.discard(i)
                            }
                        }
                    }
                    phases.created()
                    await group.waitForAll()
                }
                return body.discarded(size)
            }
        }
        return try await plan.time { phases in
            let results = await withTaskGroup(of: (Int, [UInt64]).self) { group in
                for start in stride(from: 0, to: size, by: share) {
                    group.addTask {
                        let units = (start..<min(start + share, size)).map { i in
                            body.created()
                            return body.result(i)
                        }
                        return (start, units)
                    }
                }
                phases.created()
                var done: [(Int, [UInt64])] = []
                for await chunk in group { done.append(chunk) }
                return done.sorted { $0.0 < $1.0 }.flatMap(\.1)
            }
            return try body.ordered(results)
        }
    }
}
