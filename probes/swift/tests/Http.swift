// The server, and `interp` over HTTP: what it answers, and what it says to the tool.

@testable import TaskscaleProbe

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A connection that blocks.
final class Client {
    private let number: Int32

    init(_ port: UInt16) throws {
        #if canImport(Darwin)
        let stream = SOCK_STREAM
        #else
        let stream = Int32(SOCK_STREAM.rawValue)
        #endif
        number = socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        address.sin_port = port.bigEndian
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if connected != 0 { throw Differs(description: "port \(port): \(String(cString: strerror(errno)))") }
    }

    deinit { close(number) }

    func say(_ text: String) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { write(number, $0.baseAddress! + sent, $0.count - sent) }
            // The server may end the connection before it has all of it.
            if count <= 0 { return }
            sent += count
        }
    }

    /// The next bytes; none at the end.
    private func some() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 65_536) { bytes, count in count = max(read(number, bytes.baseAddress, 65_536), 0) }
    }

    private var rest: [UInt8] = []

    /// The next response: its first line, its other lines, and its body. Nil at the end.
    func response() -> (status: String, headers: [String], body: [UInt8])? {
        while true {
            let end = rest.count < 4 ? nil : (0...(rest.count - 4)).first { Array(rest[$0..<($0 + 4)]) == [13, 10, 13, 10] }
            if let end {
                let lines = String(decoding: rest[..<end], as: UTF8.self).components(separatedBy: "\r\n")
                let length = lines.compactMap { line in
                    line.hasPrefix("Content-Length: ") ? Int(line.dropFirst(16)) : nil
                }
                rest.removeSubrange(..<(end + 4))
                while rest.count < length[0], case let bytes = some(), !bytes.isEmpty { rest += bytes }
                let body = Array(rest.prefix(length[0]))
                rest.removeFirst(body.count)
                return (lines[0], Array(lines.dropFirst()), body)
            }
            let bytes = some()
            if bytes.isEmpty { return nil }
            rest += bytes
        }
    }

    /// The status, the headers beyond the length, the body and whether the connection has ended then.
    func told(_ request: String) -> [String] {
        say(request)
        guard let response = response() else { return ["nothing"] }
        let headers = response.headers.filter { !$0.hasPrefix("Content-Length: ") }
        return [response.status] + headers + [String(decoding: response.body, as: UTF8.self)]
    }
}

func httpTests() async {
    // A server that does not answer, or does not stop, ends this program by a signal.
    alarm(120)
    await test("the server answers each request as HTTP has it") {
        let server = try Server { Response(body: Array("right".utf8)) }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        let right = ["HTTP/1.1 200 OK", "right"]
        let client = try Client(server.port)
        try same(client.told(get), right, "a request")
        try same(client.told(get + get), right, "two in one piece, the first")
        try same(client.told(""), right, "two in one piece, the second")
        for piece in ["GET / HT", "TP/1.1\r\nHost: a\r", "\n\r"] { client.say(piece) }
        try same(client.told("\n"), right, "in pieces")
        try same(client.told("GET /a HTTP/1.1\r\n\r\n"), ["HTTP/1.1 404 Not Found", "404 Not Found\n"], "another page")
        try same(
            client.told("HEAD / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"),
            ["HTTP/1.1 405 Method Not Allowed", "405 Method Not Allowed\n"], "another method")
        try same(client.told(get), right, "on the same connection")
        let closes = "Connection: close"
        let large = ["HTTP/1.1 413 Content Too Large", closes, "413 Content Too Large\n"]
        let bad = ["HTTP/1.1 400 Bad Request", closes, "400 Bad Request\n"]
        for (request, right) in [
            ("GET / HTTP/1.0\r\n\r\n", ["HTTP/1.1 200 OK", closes, "right"]),
            ("GET / HTTP/1.1\r\ncoNNection:  Close\t\r\n\r\n", ["HTTP/1.1 200 OK", closes, "right"]),
            ("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", large),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", large), ("hello\r\n\r\n", bad),
            ("GET / HTTP/1.1\r\nContent-Length 3\r\n\r\n", bad), ("\r\n\r\n", bad),
        ] {
            let client = try Client(server.port)
            try same(client.told(request), right, request)
            try same(client.told(""), ["nothing"], request)
        }
        // What has no end is cut off. What of it the server has not read may take its answer away.
        let endless = try Client(server.port)
        let said = endless.told(String(repeating: "a", count: 1_000_000))
        try same([bad, ["nothing"]].contains(said), true, "\(said)")
        try same(client.told(get), right, "others are served all the same")
        await server.stop()
        try same(client.told(get), ["nothing"], "stopped")
    }

    await test("a client that takes its time has the whole body, and one that takes nothing does not hold the server up") {
        let body = [UInt8](repeating: 65, count: 50_000_000)
        let server = try Server { Response(body: body) }
        let (slow, never) = (try Client(server.port), try Client(server.port))
        for client in [slow, never] { client.say("GET / HTTP/1.1\r\n\r\n") }
        try same(slow.response()?.body.count, body.count, "the body")
        await server.stop()
    }

    await test("every variant answers the right bytes over HTTP, and counts those since begin") {
        let probe = try TestProbe()
        let text = String(decoding: rightOutput(), as: UTF8.self)
        for (name, verify) in (encodings.map(\.0) + ["constant"]).flatMap({ [($0, false), ($0, true)] }) {
            let serving = try probe.served(name, ["verify": .flag(verify), "pause": 6])
            try same(serving["server"].text.hasPrefix("own, Dispatch of Swift 6"), true, "\(name): \(serving.line)")
            let client = try probe.client(of: serving)
            let get = { try same(client.told("GET / HTTP/1.1\r\n\r\n"), ["HTTP/1.1 200 OK", text], name) }
            if !verify { try get() }
            try same(probe.ask(["type": "begin", "id": 5]), ["type": "began", "id": 5], name)
            for _ in 0..<3 { try get() }
            let sample = try probe.ask(["type": "stop", "id": 5])
            try same([sample["type"], sample["id"], sample["answer"]], ["sample", 5, 3], name)
            try same(sample["cpu_ns"] != 0 && sample["wall_ns"] != 0, true, sample.line)
            var right = right(6)
            for counted in ["nodes", "builtins", "applications", "extensions", "suspended"] {
                if case .integer(let six)? = right[counted] { right[counted] = .integer(six / 2) }
            }
            try same(sample["extra"].object, verify && name != "constant" ? right : [:], "\(name) \(verify)")
            try same(client.told("GET / HTTP/1.1\r\n\r\n"), ["nothing"], "\(name), stopped")
        }
        try same(probe.end(), 0, "status")
    }

    await test("another line is refused, and the server goes on") {
        let probe = try TestProbe()
        let client = try probe.client(of: probe.served("constant", ["depth": 3]))
        for line in ["hello", "[]", "", #"{"type":"describe","protocol":1}"#] {
            try same(probe.ask(line)["message"], "a server is running: say begin or stop", line)
        }
        _ = try probe.ask(["type": "begin", "id": 5])
        try same(client.told("GET / HTTP/1.1\r\n\r\n"), ["HTTP/1.1 200 OK", "1"], "depth")
        try same(probe.ask(["type": "stop", "id": 5])["answer"], 1, "stop")
        try same(probe.run("sync", [:])["answer"], 3, "the next request is one like any other")
        // The tool is gone while a server runs.
        _ = try probe.served("sync", [:])
        try same(probe.end(), 0, "status")
    }

    await test("a wrong output is told in the response and at the end") {
        let probe = try TestProbe()
        let client = try probe.client(of: probe.served("wrong", [:]))
        _ = try probe.ask(["type": "begin", "id": 5])
        let told = client.told("GET / HTTP/1.1\r\n\r\n")
        try same(told[0], "HTTP/1.1 500 Internal Server Error", "status")
        try same(told[1].hasPrefix("a request's output differs from byte 0 on: \"1\""), true, told[1])
        try same(probe.ask(["type": "stop", "id": 5])["message"], .text(told[1]), "stop")
        try same(probe.end(), 0, "status")
    }
}

/// The name of what makes this program a probe.
let asProbe = "TASKSCALE_TEST_PROBE"

/// This program as a probe, one of whose evaluators is wrong.
func serveAsProbe() async -> Never {
    declareInterp()
    variant("interp", "wrong", createsTask: false) { run in
        try await perform(run) { _, _, _ in { _, judged in judged(.int(1)) } }
    }
    await serve("swift", swiftVersion)
}

/// Such a probe under way.
final class TestProbe {
    private let process = Process()
    private let (requests, replies) = (Pipe(), Pipe())

    init() throws {
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.environment = ProcessInfo.processInfo.environment.merging([asProbe: "1"]) { $1 }
        (process.standardInput, process.standardOutput) = (requests, replies)
        try process.run()
    }

    func ask(_ line: String) throws -> Json {
        try requests.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
        var reply: [UInt8] = []
        while reply.last != UInt8(ascii: "\n") {
            let bytes = replies.fileHandleForReading.availableData
            if bytes.isEmpty { throw Differs(description: "no reply to \(line)") }
            reply += bytes
        }
        return try Json(line: reply)
    }

    func ask(_ message: Json) throws -> Json { try ask(message.line) }

    func run(_ variant: String, _ params: [String: Json]) throws -> Json {
        try ask([
            "type": "run", "id": 5, "workload": "interp", "variant": .text(variant), "size": 3, "iterations": 1, "seed": 1,
            "params": .object(params),
        ])
    }

    func served(_ variant: String, _ params: [String: Json]) throws -> Json {
        let said = try run(variant, params.merging(["mode": "http-open"]) { $1 })
        try same([said["type"], said["id"]], ["serving", 5], said.line)
        return said
    }

    func client(of serving: Json) throws -> Client {
        guard case .integer(let port) = serving["port"] else { throw Differs(description: serving.line) }
        return try Client(UInt16(port))
    }

    /// Ends its input. Returns its status.
    func end() throws -> Int32 {
        try requests.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
