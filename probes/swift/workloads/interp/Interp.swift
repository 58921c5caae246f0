// `interp`: requests to an interpreter that may suspend, in every encoding that Swift has for it.
//
// | file | holds |
// |---|---|
// | InterpProgram | the tree, and how it is read |
// | InterpValue | values, the environment, and the builtins that cannot suspend |
// | InterpMachine | what the evaluators share, and `sync` |
// | InterpAsync | `async`, `async/sync_caller`, `task` |
// | InterpUnion | `union` |
// | InterpObserver | what an instrumented run counts |
// | InterpHttp | what a server says to the tool |
// | InterpServer | the server |

import TaskscaleProbe

/// Answers that many requests and has each value judged. Returns how many were right.
typealias Loop = @Sendable (_ requests: Int, _ judged: (Value) -> UInt64) async -> UInt64

/// An encoding: makes the loop of a program in which every so many elements suspend, and counts where it is told to. The
/// closures that are passed as one name both observers, since Swift compiles an evaluator for an observer only where it is
/// called with that type: through a protocol's table it would run unspecialized.
typealias Encoding = @Sendable (_ every: Int64, _ program: Node, _ counting: Counting?) -> Loop

private let mostWorkers: UInt64 = 1000

/// The workload `interp`. Answer of an iteration: the number of requests with the right output.
func declareInterp() {
    param(
        "interp", "lookup", "by_name",
        help: "how a call finds its function: in a Dictionary, or in the tree; the environment is a linked list",
        choices: ["by_name", "prelinked"])
    param("interp", "pause", 0, help: "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100")
    param("interp", "depth", 0, help: "above 0: that many nested lets are evaluated")
    param("interp", "workers", 0, help: "above 0: that many tasks share the requests, each with a loop of its own")
    param(
        "interp", "mode", "inproc",
        help: "whether requests are made in the process, or over HTTP to a small server of the probe's own",
        choices: ["inproc"] + httpModes)
    param("interp", "rate", 50, help: "http-open: percent of the closed throughput")
    let yields = "an element that suspends calls Task.yield"
    declare("sync", note: "plain recursion; an element that suspends calls sched_yield", sync)
    declare("async", note: "an async function at every node and builtin; \(yields)", everywhereAsync)
    declare(
        "async/sync_caller",
        note: "an async function at every node; builtins that cannot suspend are called plainly; \(yields)", syncCaller)
    declare("task", createsTask: true, note: "a Task at every node, whose value is awaited; \(yields)", everyTask)
    declare(
        "union", note: "an enum of a value and an async closure; combinators take the value at once; \(yields)", eitherUnion)
    variant(
        "interp", "constant", createsTask: false, only: ["mode": httpModes],
        note: "the right bytes without evaluating: what the server costs"
    ) { run in try await serveHttp(run, rightOutput(of: run)) { nil } }
}

private func declare(_ name: String, createsTask: Bool = false, note: String, _ encoding: @escaping Encoding) {
    variant("interp", name, createsTask: createsTask, note: note) { run in try await perform(run, encoding) }
}

let sync: Encoding = { every, program, counting in
    if let counting { return loop(SyncEncoding(machine: Machine(every: every, observer: counting)), program) }
    return loop(SyncEncoding(machine: Machine(every: every, observer: Silent())), program)
}

let everywhereAsync: Encoding = { every, program, counting in
    if let counting { return loop(EverywhereAsync(machine: Machine(every: every, observer: counting)), program) }
    return loop(EverywhereAsync(machine: Machine(every: every, observer: Silent())), program)
}

let syncCaller: Encoding = { every, program, counting in
    if let counting { return loop(SyncCaller(machine: Machine(every: every, observer: counting)), program) }
    return loop(SyncCaller(machine: Machine(every: every, observer: Silent())), program)
}

let everyTask: Encoding = { every, program, counting in
    if let counting { return loop(EveryTask(machine: Machine(every: every, observer: counting)), program) }
    return loop(EveryTask(machine: Machine(every: every, observer: Silent())), program)
}

let eitherUnion: Encoding = { every, program, counting in
    if let counting { return loop(EitherUnion(machine: Machine(every: every, observer: counting)), program) }
    return loop(EitherUnion(machine: Machine(every: every, observer: Silent())), program)
}

private func loop<O: Observer>(_ encoding: SyncEncoding<O>, _ program: Node) -> Loop {
    { requests, judged in
        var right: UInt64 = 0
        for _ in 0..<requests { right += judged(encoding.eval(program, nil)) }
        return right
    }
}

func loop<E: AsyncEncoding>(_ encoding: E, _ program: Node) -> Loop {
    { requests, judged in
        var right: UInt64 = 0
        for _ in 0..<requests { right += judged(await encoding.eval(program, nil)) }
        return right
    }
}

func loop<E: UnionEncoding>(_ encoding: E, _ program: Node) -> Loop {
    { requests, judged in
        var right: UInt64 = 0
        for _ in 0..<requests { right += judged(await encoding.value(of: encoding.eval(program, nil))) }
        return right
    }
}

/// Does all iterations of an encoding inside the timed part. The observer is chosen here, once for each request of the protocol.
func perform(_ run: Run, _ encoding: Encoding) async throws -> Timing {
    guard let every: Int64 = [0: 0, 6: 15, 100: 1][run.integer("pause")] else {
        throw Refused("pause is \(run.integer("pause")); give 0, 6 or 100")
    }
    let number = run.integer("workers")
    guard number <= mostWorkers else { throw Refused("workers is \(number); give at most \(mostWorkers)") }
    let tree = program(depth: run.integer("depth"), linked: run.word("lookup") == "prelinked")
    let right = rightOutput(of: run)
    if isServed(run) {
        let counting = run.verify ? Counting() : nil
        let loop = encoding(every, tree, counting)
        var timing = try await serveHttp(run, right) { await answer(loop, right, counting) }
        if let counting { timing.extra.merge(Counting.report([counting])) { $1 } }
        return timing
    }
    let workers = (0..<max(Int(number), 1)).map { index in
        let share = run.size / max(Int(number), 1) + (index < run.size % max(Int(number), 1) ? 1 : 0)
        let counting = run.verify ? Counting() : nil
        return Worker(share, right, counting, encoding(every, tree, counting))
    }
    var timing =
        number == 0
        ? await run.time { [first = workers[0]] _ in await first.loop() }
        : await run.time { _ in await together(workers) }
    for worker in workers {
        if let wrong = worker.wrong { throw Refused(wrong) }
    }
    if number > 0 {
        timing.extra["worker_requests"] = .list(workers.map { .integer(UInt64($0.requests * run.iterations)) })
        timing.extra["worker_wall_ns"] = .list(workers.map { .integer($0.wallNs) })
    }
    if run.verify { timing.extra.merge(Counting.report(workers.compactMap(\.counting))) { $1 } }
    return timing
}

/// The output that is right for a request of this run.
private func rightOutput(of run: Run) -> [UInt8] { run.integer("depth") == 0 ? rightOutput() : Array("1".utf8) }

/// Has each worker loop in a task of its own.
private func together(_ workers: [Worker]) async -> UInt64 {
    await withTaskGroup(of: UInt64.self) { group in
        for worker in workers {
            group.addTask {
                let clock = ContinuousClock()
                let began = clock.now
                let right = await worker.loop()
                let (seconds, rest) = (clock.now - began).components
                worker.wallNs += UInt64(seconds) * 1_000_000_000 + UInt64(rest / 1_000_000_000)
                return right
            }
        }
        return await group.reduce(0, +)
    }
}

/// Answers requests in a loop. Used by one task at a time.
final class Worker: @unchecked Sendable {
    let requests: Int
    let counting: Counting?
    private let right: [UInt8]
    private let answers: Loop
    /// What was wrong with the first wrong output.
    private(set) var wrong: String?
    var wallNs: UInt64 = 0

    init(_ requests: Int, _ right: [UInt8], _ counting: Counting?, _ answers: @escaping Loop) {
        (self.requests, self.right, self.counting, self.answers) = (requests, right, counting, answers)
    }

    func loop() async -> UInt64 { await answers(requests, judged) }

    /// Returns 1 if a result is right.
    private func judged(_ result: Value) -> UInt64 {
        guard let wrong = judge(result, right, counting) else { return 1 }
        self.wrong = self.wrong ?? wrong
        return 0
    }
}

/// Answers one request, for a server. Returns what is wrong with its output.
func answer(_ loop: Loop, _ right: [UInt8], _ counting: Counting?) async -> String? {
    // Written before the loop returns.
    nonisolated(unsafe) var wrong: String?
    _ = await loop(1) { value in
        wrong = judge(value, right, counting)
        return 1
    }
    return wrong
}

/// Writes a result and compares it. Returns what is wrong with it.
private func judge(_ result: Value, _ right: [UInt8], _ counting: Counting?) -> String? {
    var written: [UInt8] = []
    written.reserveCapacity(right.count)
    let nothing = result.write(into: &written)
    counting?.answered(written)
    if nothing == nil, written == right { return nil }
    return nothing.map { "a request's output is no value: \($0)" } ?? difference(written, right)
}

/// Where an output first differs from the right one.
func difference(_ got: [UInt8], _ right: [UInt8]) -> String {
    let at = zip(got, right).prefix { $0 == $1 }.count
    let part = { (bytes: [UInt8]) in String(decoding: bytes.dropFirst(at).prefix(40), as: UTF8.self).debugDescription }
    return "a request's output differs from byte \(at) on: \(part(got)), right is \(part(right)) "
        + "(\(got.count) bytes, right are \(right.count))"
}
