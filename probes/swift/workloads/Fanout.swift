// `fanout`: start `size` tasks, collect `size` results.

import TaskscaleProbe

/// The workload `fanout`.
///
/// Answer of an iteration: the sum of the tasks' results; in the order `discard`, where a timed run has no results, the
/// number of tasks started.
func declareFanout() {
    let orders: [Json] = ["ordered", "completion", "discard"]
    param("fanout", "order", "ordered", help: "how results are collected", choices: orders)
    param("fanout", "work", 0, help: "steps of spin per task; 0: the task gives 31 * i")
    param("fanout", "window", 0, help: "most tasks alive at once; 0: all")
    param("fanout", "extra_spin", 0, help: "steps of spin once per iteration: a slow-down to be found")

    fanout("Task", ["ordered", "discard"], Loose<Inherited>(), note: "outside of actors, so on the pool")
    fanout("Task.detached", ["ordered", "discard"], Loose<Detached>())
    fanout("MainActor/Task", ["ordered", "discard"], OnMainActor(), note: "started by the main actor, which also runs them")
    fanout("group", ["completion", "discard"], Group())
    fanout("group_ordered", ["ordered"], GroupOrdered())
    fanout("discarding", ["discard"], Discarding())
    fanout("group_chunks", ["ordered", "discard"], Chunks(), only: ["window": [0]], createsTask: false, note: chunksNote)
    declareImmediate()
}

private let chunksNote = "a group of one task per worker, each with its share of the units"

private func fanout<F: Form>(
    _ name: String, _ orders: [Json], _ form: F, only: [String: [Json]] = [:], createsTask: Bool = true,
    note: String? = nil
) {
    let only = only.merging(["order": orders]) { _, orders in orders }
    variant("fanout", name, createsTask: createsTask, only: only, note: note) { run in
        try await performFanout(run, form)
    }
}

/// The kind of body is chosen here, once per request, so that the loop over tasks is compiled for each and has no
/// branch on it.
@inline(__always)
private func performFanout<F: Form>(_ run: Run, _ form: F) async throws -> Timing {
    let order = Order(rawValue: run.word("order"))!
    let plan = Plan(run, order: order, window: run.integer("window"), extraSpin: run.integer("extra_spin"))
    let work = run.integer("work")
    if work == 0 { return try await perform(form, plan, Plain()) }
    return try await perform(form, plan, Spun(seed: run.seed, work: work))
}

private func declareImmediate() {
    let note = "a task that is run at its creation until it first waits, here to its end"
    #if compiler(>=6.2)
    if #available(macOS 26, iOS 26, *) {
        fanout("Task.immediate", ["ordered", "discard"], Loose<Immediate>(), createsTask: false, note: note)
        return
    }
    #endif
    let missing = Unavailable(reason: "needs Swift 6.2", remedy: "name a newer one: --runtime swift@/path/to/swiftc")
    variant(
        "fanout", "Task.immediate", createsTask: false, only: ["order": ["ordered", "discard"]], unavailable: missing,
        note: note
    ) { _ in throw Refused("never asked: the tool asks for nothing unavailable") }
}
