// Loose tasks: started one by one, each awaited in the order of creation.

import TaskscaleProbe

/// A way of starting a task that nobody's scope holds.
protocol Start: Sendable {
    static func task<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never>
}

/// `Task { }`, outside of any actor.
struct Inherited: Start {
    @inline(__always)
    static func task<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never> {
        Task(operation: operation)
    }
}

/// `Task.detached { }`.
struct Detached: Start {
    @inline(__always)
    static func task<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never> {
        Task.detached(operation: operation)
    }
}

#if compiler(>=6.2)
/// `Task.immediate { }`.
@available(macOS 26, iOS 26, *)
struct Immediate: Start {
    @inline(__always)
    static func task<T: Sendable>(_ operation: @escaping @Sendable () async -> T) -> Task<T, Never> {
        Task.immediate(operation: operation)
    }
}
#endif

/// Loose tasks, awaited in the order of creation. With a window, the oldest is awaited before the next is started.
struct Loose<S: Start>: Form {
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let (size, window) = (plan.size, plan.window)
        if plan.order == .discard {
            return await plan.time { phases in
                var tasks: [Task<Void, Never>] = []
                tasks.reserveCapacity(size)
                for i in 0..<size {
                    if i >= window { await tasks[i - window].value }
                    body.created()
                    tasks.append(S.task { body.discard(i) })
                }
                phases.created()
                for i in (size - window)..<size { await tasks[i].value }
                return body.discarded(size)
            }
        }
        return try await plan.time { phases in
            var tasks: [Task<UInt64, Never>] = []
            var results: [UInt64] = []
            tasks.reserveCapacity(size)
            results.reserveCapacity(size)
            for i in 0..<size {
                if i >= window { results.append(await tasks[i - window].value) }
                body.created()
                tasks.append(S.task { body.result(i) })
            }
            phases.created()
            for i in (size - window)..<size { results.append(await tasks[i].value) }
            return try body.ordered(results)
        }
    }
}

/// `Task { }` in a program whose main function starts tasks: they inherit the main actor, which runs them all.
struct OnMainActor: Form {
    @MainActor
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing {
        let (size, window) = (plan.size, plan.window)
        if plan.order == .discard {
            return await plan.time { phases in
                var tasks: [Task<Void, Never>] = []
                tasks.reserveCapacity(size)
                for i in 0..<size {
                    if i >= window { await tasks[i - window].value }
                    body.created()
                    tasks.append(Task { @MainActor in body.discard(i) })
                }
                phases.created()
                for i in (size - window)..<size { await tasks[i].value }
                return body.discarded(size)
            }
        }
        return try await plan.time { phases in
            var tasks: [Task<UInt64, Never>] = []
            var results: [UInt64] = []
            tasks.reserveCapacity(size)
            results.reserveCapacity(size)
            for i in 0..<size {
                if i >= window { results.append(await tasks[i - window].value) }
                body.created()
                tasks.append(Task { @MainActor in body.result(i) })
            }
            phases.created()
            for i in (size - window)..<size { results.append(await tasks[i].value) }
            return try body.ordered(results)
        }
    }
}
