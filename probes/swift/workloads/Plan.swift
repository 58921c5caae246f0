// A request, read, and the forms that perform it.

import TaskscaleProbe

/// How results are collected.
enum Order: String {
    /// Into an array indexed by task.
    case ordered
    /// As tasks finish.
    case completion
    /// Not at all.
    case discard
}

/// A request, read.
struct Plan {
    let run: Run
    let order: Order
    let size: Int
    /// Most tasks alive at once: `size` where all may be.
    let window: Int
    let extraSpin: UInt64

    init(_ run: Run, order: Order, window: UInt64, extraSpin: UInt64 = 0) {
        (self.run, self.order, size, self.extraSpin) = (run, order, run.size, extraSpin)
        self.window = window == 0 ? run.size : Int(min(window, UInt64(run.size)))
    }

    /// Times iterations of `one`, and the slow-down where one is planted.
    func time(
        isolation: isolated (any Actor)? = #isolation, _ one: (Phases) async throws -> UInt64
    ) async rethrows -> Timing {
        try await run.time { phases in
            let answer = try await one(phases)
            if extraSpin > 0 { blackHole(spin(run.seed, extraSpin)) }
            return answer
        }
    }
}

/// A way of starting tasks and collecting their results, for any body.
protocol Form: Sendable {
    /// Does all iterations inside the timed part.
    func perform<B: Body>(_ plan: Plan, _ body: B) async throws -> Timing
}

/// Performs `form` with `body`, or with `body` counted.
@inline(__always)
func perform<F: Form, B: Body>(_ form: F, _ plan: Plan, _ body: B) async throws -> Timing {
    if !plan.run.verify { return try await form.perform(plan, body) }
    let count = Count()
    let timing = try await form.perform(plan, Counted(inner: body, count: count))
    return try count.report(plan.run, timing)
}
