// Ways of `bytes` over HTTP, by URLSession. They are a library of their own, which the probe loads when it is first asked for one:
// what they are linked with (libcurl and what that needs) doubles the time that a process takes to start, and may be missing.

import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a pass tells: the answer, and how many bytes were consumed where that is counted, or else what failed.
public typealias Told = @convention(c) (UnsafeMutableRawPointer, UInt64, Int, UnsafePointer<CChar>?) -> Void

/// Makes one pass: the variant, the sum (0 sum8, 1 FNV, 2 and 3 the same counted), the address, and what is told with which
/// context.
public typealias Pass = @convention(c) (
    UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UnsafeMutableRawPointer, Told
) -> Void

/// Sets up all that passes share, and gives what makes one.
@_cdecl("taskscale_url_session")
public func begun() -> Pass {
    _ = (session, incremental, ways)
    return { name, sum, url, context, told in
        let (name, text) = (String(cString: name), String(cString: url))
        let call = Call(context: context, told: told)
        Task {
            do {
                guard let url = URL(string: text) else { throw Failed("it is no address") }
                guard let way = ways[name] else { throw Failed("the library has no \(name)") }
                let (answer, consumed) = try await way(sum, url)
                call.told(call.context, answer, consumed, nil)
            } catch {
                call.told(call.context, 0, 0, "\(error)")
            }
        }
    }
}

/// Whom to tell. The context is its caller's, who waits.
private struct Call: @unchecked Sendable {
    let context: UnsafeMutableRawPointer, told: Told
}

struct Failed: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// A way of fetching all bytes and of adding them up.
protocol Way: Sendable {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State
}

private typealias AnySum = @Sendable (Int32, URL) async throws -> (UInt64, Int)

private func anySum<W: Way>(_ way: W) -> AnySum {
    { sum, url in
        switch sum {
        case 0: try await told(way, Sum8.self, url)
        case 1: try await told(way, Fnv.self, url)
        case 2: try await told(way, CountedSum<Sum8>.self, url)
        default: try await told(way, CountedSum<Fnv>.self, url)
        }
    }
}

private func told<W: Way, S: Sum>(_ way: W, _: S.Type, _ url: URL) async throws -> (UInt64, Int) {
    let state = try await way.pass(S.self, url)
    return (S.answer(state), S.consumed(state))
}

/// By the names that the probe gives them.
private let ways: [String: AnySum] = {
    var ways = [
        "URLSession.data/for": anySum(WholeBody<For>()),
        "URLSession.data/unsafe": anySum(WholeBody<Unsafe>()),
        "URLSession.data/forEach": anySum(WholeBody<ForEach>()),
        "URLSession.data/reduce": anySum(WholeBody<Reduce>()),
        "dataTask.delegate/for": anySum(Incremental<For>()),
        "dataTask.delegate/unsafe": anySum(Incremental<Unsafe>()),
        "dataTask.delegate/forEach": anySum(Incremental<ForEach>()),
        "dataTask.delegate/reduce": anySum(Incremental<Reduce>()),
        "dataTask.handler/for": anySum(Handler<For>()),
        "dataTask.handler/unsafe": anySum(Handler<Unsafe>()),
        "dataTask.handler/forEach": anySum(Handler<ForEach>()),
        "dataTask.handler/reduce": anySum(Handler<Reduce>()),
    ]
    #if !canImport(FoundationNetworking)
    ways["URLSession.bytes/for"] = anySum(SessionBytes())
    ways["URLSession.bytes/reduce"] = anySum(SessionBytesReduced())
    #endif
    return ways
}()

/// Without a cache, in which a second pass would find what the first has fetched.
private let session: URLSession = {
    let settings = URLSessionConfiguration.ephemeral
    settings.urlCache = nil
    return URLSession(configuration: settings)
}()

private func check(_ response: URLResponse?) throws {
    let status = (response as? HTTPURLResponse)?.statusCode
    if status != 200 { throw Failed(status.map { "it has status \($0), not 200" } ?? "there is no response") }
}

struct WholeBody<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State {
        let (data, response) = try await session.data(from: url)
        try check(response)
        return A.fold(S.self, data, S.start)
    }
}

struct Handler<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State {
        try await withCheckedThrowingContinuation { done in
            let task = session.dataTask(with: url) { data, response, error in
                done.resume(
                    with: Result {
                        if let error { throw error }
                        try check(response)
                        return A.fold(S.self, data ?? Data(), S.start)
                    })
            }
            task.resume()
        }
    }
}

struct Incremental<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State {
        var state = S.start
        try await withCheckedThrowingContinuation { done in
            pieces.set({ state = A.fold(S.self, $0, state) }, done)
            incremental.dataTask(with: url).resume()
        }
        return state
    }
}

/// Has a closure take each piece of the body, on the session's queue, which does one thing after another.
private final class Pieces: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    private var take: (Data) -> Void = { _ in }
    private var done: CheckedContinuation<Void, any Error>?

    /// Before a task begins. There is one at a time.
    func set(_ take: @escaping (Data) -> Void, _ done: CheckedContinuation<Void, any Error>) {
        (self.take, self.done) = (take, done)
    }

    func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { take(data) }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // Whoever waits may begin the next task at once.
        let ended = done
        (take, done) = ({ _ in }, nil)
        ended?.resume(
            with: Result {
                if let error { throw error }
                try check(task.response)
            })
    }
}

/// The session's and not the task's: outside of Apple's systems nothing is told to `task.delegate` (seen with Swift 6.0.3).
private let pieces = Pieces()
private let incremental = URLSession(configuration: session.configuration, delegate: pieces, delegateQueue: nil)

#if !canImport(FoundationNetworking)
struct SessionBytes: Way {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State {
        let (bytes, response) = try await session.bytes(from: url)
        try check(response)
        var state = S.start
        for try await byte in bytes { state = S.step(state, byte) }
        return state
    }
}

struct SessionBytesReduced: Way {
    func pass<S: Sum>(_: S.Type, _ url: URL) async throws -> S.State {
        let (bytes, response) = try await session.bytes(from: url)
        try check(response)
        return try await bytes.reduce(S.start) { S.step($0, $1) }
    }
}
#endif
