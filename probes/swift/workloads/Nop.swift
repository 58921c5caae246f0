// `nop`: `size` tasks that do nothing, started and awaited: the forms of `fanout` without results.

import TaskscaleProbe

/// The workload `nop`. Answer of an iteration: the number of tasks done.
func declareNop() {
    param("nop", "live", 0, help: "most tasks alive at once; 0: all")
    nop("Task", Loose<Inherited>(), note: "outside of actors, so on the pool")
    nop("Task.detached", Loose<Detached>())
    nop("MainActor/Task", OnMainActor(), note: "started by the main actor, which also runs them")
    nop("group", Group())
    nop("discarding", Discarding())
}

private func nop<F: Form>(_ name: String, _ form: F, note: String? = nil) {
    variant("nop", name, note: note) { run in
        try await perform(form, Plan(run, order: .discard, window: run.integer("live")), Nothing())
    }
}
