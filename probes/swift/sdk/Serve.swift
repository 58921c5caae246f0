// The loop: a line in, a line out, flushed at once. A request that cannot be done gets an error; the probe lives on.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so
/// that junk cannot fill the memory.
private let maxLine = 1 << 20

/// Serves the declared workloads as runtime `name` until standard input ends or says `exit`. The process ends with
/// status 0 then; with 1 where a pipe failed.
public func serve(_ name: String, _ version: String) async -> Never {
    // Whatever a workload prints must not get between the replies. A closed pipe is an error, not the end.
    let output = dup(1)
    dup2(2, 1)
    signal(SIGPIPE, SIG_IGN)
    var input = Lines()
    do {
        while let line = try input.next() {
            guard let reply = await reply(to: line, name, version) else { break }
            try write(reply.line + "\n", to: output)
        }
    } catch {
        try? write("probe \(name): standard input or output failed: \(error)\n", to: 2)
        exit(1)
    }
    exit(0)
}

/// The reply to a line; none to `exit`.
private func reply(to line: [UInt8], _ name: String, _ version: String) async -> Json? {
    do {
        let message = try parse(line)
        switch message["type"] {
        case "exit": return nil
        case "describe": return try describe(message, name, version)
        case "run": return try await run(message)
        case let other: throw Refused("unknown request type \(other?.short ?? "null"); known here: describe, run, exit")
        }
    } catch {
        return ["type": "error", "message": .text("\(error)")]
    }
}

private func parse(_ line: [UInt8]) throws -> [String: Json] {
    if line.count > maxLine { throw Refused("the line is longer than \(maxLine) bytes") }
    guard let json = try? Json(line: line) else { throw Refused("the line is not JSON") }
    guard case .object(let message) = json else { throw Refused("the line is not a JSON object") }
    return message
}

private func describe(_ message: [String: Json], _ name: String, _ version: String) throws -> Json {
    guard let asked = message["protocol"] else { throw Refused("the request has no field \"protocol\"") }
    if asked == .integer(protocolNumber) { return description(name, version) }
    let text =
        "the tool speaks protocol \(asked.short), this probe of \(name) speaks protocol \(protocolNumber); "
        + "use a tool and a probe of one release"
    return ["type": "error", "message": .text(text), "protocol": .integer(protocolNumber)]
}

private func run(_ message: [String: Json]) async throws -> Json {
    let run = try Run(message)
    let timing: Timing
    do {
        timing = try await run.perform(run)
    } catch let refused as Refused {
        throw refused
    } catch {
        // A workload of the user's may throw anything; it is this request's failure only.
        throw Refused("variant \(message["variant"]!.line) failed: \(error)")
    }
    var sample: [String: Json] = [
        "type": "sample", "id": .integer(run.id), "wall_ns": .integer(timing.wallNs), "cpu_ns": .integer(timing.cpuNs),
        "answer": .integer(timing.answer),
    ]
    sample["extra"] = timing.extra.isEmpty ? nil : .object(timing.extra)
    return .object(sample)
}

/// The lines of standard input, without their ends; of one that is too long, just enough to tell.
private struct Lines {
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var start = 0
    private var end = 0

    mutating func next() throws -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if start == end {
                end = try checked { systemRead(0, &buffer, buffer.count) }
                start = 0
                if end == 0 { return line.isEmpty ? nil : line }
            }
            let stop = buffer[start..<end].firstIndex(of: UInt8(ascii: "\n"))
            if line.count <= maxLine { line += buffer[start..<(stop ?? end)] }
            start = stop.map { $0 + 1 } ?? end
            if stop != nil { return line }
        }
    }
}

private func write(_ text: String, to file: Int32) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        rest = try rest.dropFirst(checked { rest.withUnsafeBytes { systemWrite(file, $0.baseAddress, $0.count) } })
    }
}

/// What a system call gave; asked again where a signal came between.
private func checked(_ call: () -> Int) throws -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        if errno != EINTR { throw Refused(String(cString: strerror(errno))) }
    }
}

// This module has functions of the same names.
#if canImport(Glibc)
private let (systemRead, systemWrite) = (Glibc.read, Glibc.write)
#elseif canImport(Musl)
private let (systemRead, systemWrite) = (Musl.read, Musl.write)
#else
private let (systemRead, systemWrite) = (Darwin.read, Darwin.write)
#endif
