// The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would
// not have.

/// What was timed, and what else is known.
public struct Timing: Sendable {
    public var wallNs: UInt64, cpuNs: UInt64, answer: UInt64, extra: [String: Json]

    /// Adds up iterations that were each timed by themselves, so that what lies between them is not, and is told beside:
    /// `one` is given the request with one iteration.
    public static func sum(of run: Run, _ one: (Run) async throws -> Timing) async rethrows -> Timing {
        var once = run
        once.iterations = 1
        var sum = Timing(wallNs: 0, cpuNs: 0, answer: 0, extra: [:])
        let (wall, cpu) = (TaskscaleProbe.wallNs(), TaskscaleProbe.cpuNs())
        for _ in 0..<run.iterations {
            let part = try await one(once)
            (sum.wallNs, sum.cpuNs, sum.answer) = (
                sum.wallNs + part.wallNs, sum.cpuNs + part.cpuNs, sum.answer &+ part.answer)
        }
        let (cpuAll, wallAll) = (TaskscaleProbe.cpuNs() - cpu, TaskscaleProbe.wallNs() - wall)
        sum.extra["setup_wall_ns"] = .integer(wallAll - min(wallAll, sum.wallNs))
        sum.extra["setup_cpu_ns"] = .integer(cpuAll - min(cpuAll, sum.cpuNs))
        return sum
    }
}

extension Run {
    /// Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer. Runs where its
    /// caller does: on the pool, or on the caller's actor.
    public func time(
        isolation: isolated (any Actor)? = #isolation, _ one: (Phases) async throws -> UInt64
    ) async rethrows -> Timing {
        let phases = Phases(wanted: wantsPhases)
        var answer: UInt64 = 0
        let (cpu, wall) = (TaskscaleProbe.cpuBeginNs(), TaskscaleProbe.wallNs())
        for _ in 0..<iterations {
            phases.begin()
            answer &+= try await one(phases)
        }
        let (wallEnd, cpuEnd) = (TaskscaleProbe.wallNs(), TaskscaleProbe.cpuEndNs())
        return Timing(wallNs: wallEnd - wall, cpuNs: cpuEnd - cpu, answer: answer, extra: phases.extra)
    }
}

extension Run {
    /// Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and `teardown(made)`
    /// ends it. What both took is told beside. Clocks are read around each iteration, for some 10 us: let one take 50 us or
    /// more.
    public func timeEach<Made>(
        isolation: isolated (any Actor)? = #isolation, _ setup: () async throws -> Made,
        _ one: (Phases, Made) async throws -> UInt64, teardown: (Made) async throws -> Void = { _ in }
    ) async rethrows -> Timing {
        let phases = Phases(wanted: wantsPhases)
        var (answer, wall, cpu): (UInt64, UInt64, UInt64) = (0, 0, 0)
        let (wallBegin, cpuBegin) = (TaskscaleProbe.wallNs(), TaskscaleProbe.cpuNs())
        for _ in 0..<iterations {
            let made = try await setup()
            let (cpuBefore, wallBefore) = (TaskscaleProbe.cpuBeginNs(), TaskscaleProbe.wallNs())
            phases.begin()
            answer &+= try await one(phases, made)
            wall += TaskscaleProbe.wallNs() - wallBefore
            cpu += TaskscaleProbe.cpuEndNs() - cpuBefore
            try await teardown(made)
        }
        let (cpuAll, wallAll) = (TaskscaleProbe.cpuNs() - cpuBegin, TaskscaleProbe.wallNs() - wallBegin)
        var extra = phases.extra
        extra["setup_cpu_ns"] = .integer(cpuAll - min(cpuAll, cpu))
        extra["setup_wall_ns"] = .integer(wallAll - min(wallAll, wall))
        return Timing(wallNs: wall, cpuNs: cpu, answer: answer, extra: extra)
    }
}

/// The share of creation, summed over iterations. Reads no clock unless the request has `phases`.
public final class Phases {
    private let wanted: Bool
    private var (wall, cpu): (UInt64, UInt64) = (0, 0)
    // What the clocks read, less the sums, when the iteration began.
    private var (wallBefore, cpuBefore): (UInt64, UInt64) = (0, 0)

    init(wanted: Bool) { self.wanted = wanted }

    /// Says that the last task has just been started. Called more than once in an iteration (a windowed workload
    /// starts tasks until near its end), the last call counts.
    public func created() { if wanted { (wall, cpu) = (wallNs() &- wallBefore, cpuNs() &- cpuBefore) } }

    func begin() { if wanted { (wallBefore, cpuBefore) = (wallNs() &- wall, cpuNs() &- cpu) } }

    var extra: [String: Json] { wall == 0 ? [:] : ["create_wall_ns": .integer(wall), "create_cpu_ns": .integer(cpu)] }
}
