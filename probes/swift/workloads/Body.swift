// What a task does. A task carries a copy of its body: nothing for `Plain` and `Nothing`, two words for `Spun`.

import TaskscaleProbe

/// What task `i` does, and what is done around it.
protocol Body: Sendable {
    /// The result of task `i`.
    func result(_ i: Int) -> UInt64
    /// Task `i` where nobody wants its result.
    func discard(_ i: Int)
    /// Called by the creator before it creates a task.
    func created()
    /// The answer of results in the order of their tasks.
    func ordered(_ results: [UInt64]) throws -> UInt64
    /// The answer of tasks without results.
    func discarded(_ size: Int) -> UInt64
}

extension Body {
    func discard(_ i: Int) { blackHole(result(i)) }
    func created() {}
    func ordered(_ results: [UInt64]) throws -> UInt64 { results.reduce(0, &+) }
    func discarded(_ size: Int) -> UInt64 { UInt64(size) }
}

/// Gives `31 * i`.
struct Plain: Body {
    func result(_ i: Int) -> UInt64 { product(i) }
}

/// Gives `spin(seed + i, work)`.
struct Spun: Body {
    let seed: UInt64, work: UInt64

    func result(_ i: Int) -> UInt64 { spin(seed &+ UInt64(i), work) }
}

/// Does nothing.
struct Nothing: Body {
    func result(_ i: Int) -> UInt64 { 1 }
    func discard(_ i: Int) {}
}

/// A body, counted.
struct Counted<Inner: Body>: Body {
    let inner: Inner
    let count: Count

    func result(_ i: Int) -> UInt64 {
        let result = inner.result(i)
        count.executed(result)
        return result
    }

    func created() { count.created() }

    func ordered(_ results: [UInt64]) throws -> UInt64 {
        // A sum alone would not show that results lie in the wrong places.
        for (i, result) in results.enumerated() where result != inner.result(i) {
            throw Wrong(description: "result \(i) is \(result), not \(inner.result(i))")
        }
        return results.reduce(0, &+)
    }

    func discarded(_ size: Int) -> UInt64 { count.takeSum() }
}

/// What an instrumented run found to be wrong.
struct Wrong: Error, CustomStringConvertible {
    let description: String
}

/// Never inlined, or the task would be empty.
@inline(never)
private func product(_ i: Int) -> UInt64 {
    31 &* UInt64(i)
}
