// The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where replies go. Whatever a workload prints must not get between them.
nonisolated(unsafe) private var replies = stdout!

/// Sends a line to the tool.
public func say(_ said: Json) { fputs(said.line + "\n", replies) }

/// Serves the declared workloads as runtime `name` until standard input ends or says `exit`; then ends the process.
public func serve(_ name: String, _ version: String) async -> Never {
    replies = fdopen(dup(1), "w")!
    setvbuf(replies, nil, _IOLBF, 0)
    dup2(2, 1)
    while let line = readLine(), let said = await reply(to: line, name, version) { say(said) }
    exit(0)
}

/// The reply to a line; none to `exit`. What a workload throws is this request's failure only.
private func reply(to line: String, _ name: String, _ version: String) async -> Json? {
    do {
        guard let message = try? Json(line: Array(line.utf8)) else { throw Refused("the line is not JSON") }
        let asked = message["protocol"]
        switch message["type"] {
        case "exit": return nil
        case "run": return try await run(request(message))
        case "describe" where asked == .integer(protocolNumber): return description(name, version)
        case "describe":
            let both = "the tool speaks protocol \(asked.line), this probe of \(name) speaks protocol \(protocolNumber)"
            throw Refused("\(both); use a tool and a probe of one release")
        case let other: throw Refused("unknown request type \(other.line); known here: describe run exit")
        }
    } catch {
        return ["type": "error", "message": .text("\(error)"), "protocol": .integer(protocolNumber)]
    }
}

/// Performs a request.
private func run(_ asked: (perform: Perform, run: Run)) async throws -> Json {
    let timing = try await asked.perform(asked.run)
    return [
        "type": "sample", "id": .integer(asked.run.id), "wall_ns": .integer(timing.wallNs),
        "cpu_ns": .integer(timing.cpuNs), "answer": .integer(timing.answer), "extra": .object(timing.extra),
    ]
}
