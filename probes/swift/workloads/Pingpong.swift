// `pingpong`: `size` round trips of a token between the two tasks of a pair, over `pairs` pairs. A task passes the token on and
// then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the token, and whoever began
// counts the trip only if that was done.

import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The workload `pingpong`. Answer of an iteration: the number of round trips.
func declarePingpong() {
    param("pingpong", "pairs", 1, help: "pairs of tasks that share the round trips")
    param(
        "pingpong", "workers", "cores", help: "threads of the pool: the process is started with their number",
        choices: ["cores", "one"])
    variant("pingpong", "AsyncStream", only: ["workers": ["cores"]]) { run in await pingpong(run) { Streamed() } }
    variant("pingpong", "continuation", only: ["workers": ["cores"]]) { run in await pingpong(run) { Resumed() } }
    variant("pingpong", "actor", only: ["workers": ["cores"]]) { run in await pingpong(run) { Acted() } }
}

/// Where a token is passed, and waited for by one task.
private protocol Direction: Sendable {
    func pass(_ token: UInt64) async
    func take() async -> UInt64
}

private func pingpong<D: Direction>(_ run: Run, _ made: @Sendable () -> D) async -> Timing {
    let pairs = Int(run.integer("pairs"))
    return await run.time { _ in
        await withTaskGroup(of: UInt64.self) { group in
            for pair in 0..<pairs {
                let trips = run.size / pairs + (pair < run.size % pairs ? 1 : 0)
                let (there, back) = (made(), made())
                group.addTask {
                    await pong(there, back, trips)
                    return 0
                }
                group.addTask { await ping(there, back, trips) }
            }
            return await group.reduce(0, +)
        }
    }
}

/// The task that begins. Gives the number of trips from which the token came back as it should.
private func ping<D: Direction>(_ there: D, _ back: D, _ trips: Int) async -> UInt64 {
    var right: UInt64 = 0
    for token in 0..<UInt64(trips) {
        await there.pass(token)
        if await back.take() == token + 1 { right += 1 }
    }
    return right
}

/// The task that answers.
private func pong<D: Direction>(_ there: D, _ back: D, _ trips: Int) async {
    for _ in 0..<trips { await back.pass(await there.take() + 1) }
}

/// A stream of tokens, which one task reads.
private final class Streamed: Direction, @unchecked Sendable {
    private let continuation: AsyncStream<UInt64>.Continuation
    private var tokens: AsyncStream<UInt64>.Iterator

    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: UInt64.self)
        self.continuation = continuation
        tokens = stream.makeAsyncIterator()
    }

    func pass(_ token: UInt64) async { continuation.yield(token) }
    func take() async -> UInt64 { await tokens.next() ?? 0 }
}

/// A token, or the continuation of who waits for it.
private enum Place {
    case empty
    case token(UInt64)
    case waits(CheckedContinuation<UInt64, Never>)
}

/// A place under a lock.
private final class Resumed: Direction, @unchecked Sendable {
    private var mutex = pthread_mutex_t()
    private var place = Place.empty

    init() { pthread_mutex_init(&mutex, nil) }
    deinit { pthread_mutex_destroy(&mutex) }

    func pass(_ token: UInt64) async { give(token)?.resume(returning: token) }

    func take() async -> UInt64 {
        await withCheckedContinuation { continuation in
            if let token = self.token(or: continuation) { continuation.resume(returning: token) }
        }
    }

    /// Leaves the token, or gives who waits for it.
    private func give(_ token: UInt64) -> CheckedContinuation<UInt64, Never>? {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        guard case .waits(let continuation) = place else {
            place = .token(token)
            return nil
        }
        place = .empty
        return continuation
    }

    /// The token that is there, or else who waits is kept.
    private func token(or continuation: CheckedContinuation<UInt64, Never>) -> UInt64? {
        pthread_mutex_lock(&mutex)
        defer { pthread_mutex_unlock(&mutex) }
        guard case .token(let token) = place else {
            place = .waits(continuation)
            return nil
        }
        place = .empty
        return token
    }
}

/// A place that an actor has.
private actor Acted: Direction {
    private var place = Place.empty

    func pass(_ token: UInt64) {
        guard case .waits(let continuation) = place else { return place = .token(token) }
        place = .empty
        continuation.resume(returning: token)
    }

    func take() async -> UInt64 {
        if case .token(let token) = place {
            place = .empty
            return token
        }
        return await withCheckedContinuation { place = .waits($0) }
    }
}
