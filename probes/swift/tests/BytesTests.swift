// `bytes`: from files, pipes and a server of this test.

@testable import TaskscaleProbe

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Of the content of each length: what all languages must give.
private let published: [(Int, UInt64, UInt64)] = [
    (8, 221, 0xfc37_75c2_0640_340c), (65_536, 214, 0x361c_e99e_e50d_834f), (1_048_576, 38, 0xe5d2_ee95_ab2a_6e4b),
]

/// The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42.
private func content(_ size: Int) -> [UInt8] {
    func rotated(_ x: UInt64, _ by: UInt64) -> UInt64 { x << by | x >> (64 - by) }
    var s: [UInt64] = (1...4).map { i in
        var z: UInt64 = 42 &+ UInt64(i) &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    var bytes: [UInt8] = []
    while bytes.count < size {
        let word = rotated(s[1] &* 5, 7) &* 9
        let shifted = s[1] << 17
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotated(s[3], 45)
        for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * UInt64(place)))) }
    }
    return Array(bytes[..<size])
}

private func sums(_ content: [UInt8]) -> (sum8: UInt64, fnv: UInt64) {
    (content.reduce(0) { ($0 + UInt64($1)) % 256 }, fnv1a(content))
}

/// Writes all of it, in pieces of 999 bytes.
private func writeInPieces(_ file: Int32, _ bytes: [UInt8]) {
    var at = 0
    while at < bytes.count {
        let count = bytes.withUnsafeBytes { write(file, $0.baseAddress! + at, min(999, bytes.count - at)) }
        if count <= 0 { return }
        at += count
        sched_yield()
    }
}

/// Has `use` ask for the content, which is in a folder and behind a server.
private func with(_ content: [UInt8], _ use: () async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("taskscale-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let name = "\(content.count).bytes"
    try Data(content).write(to: folder.appendingPathComponent(name))
    let (listener, port) = try listening()
    Thread.detachNewThread {
        // Until the listener is shut down. Answers one request a connection.
        while case let client = accept(listener, nil, nil), client >= 0 {
            var asked: [UInt8] = []
            var byte: UInt8 = 0
            while !asked.suffix(4).elementsEqual("\r\n\r\n".utf8), read(client, &byte, 1) == 1 { asked.append(byte) }
            let here = asked.starts(with: "GET /\(name) ".utf8)
            let head = "HTTP/1.1 \(here ? "200 OK" : "404 Not Found")\r\nContent-Length: \(here ? content.count : 0)\r\n"
            writeInPieces(client, Array("\(head)Connection: close\r\n\r\n".utf8) + (here ? content : []))
            close(client)
        }
        close(listener)
    }
    defer { shutdown(listener, Int32(SHUT_RDWR)) }
    setenv("TASKSCALE_BYTES", folder.path, 1)
    setenv("TASKSCALE_BYTES_URL", "http://127.0.0.1:\(port)", 1)
    defer { for name in ["TASKSCALE_BYTES", "TASKSCALE_BYTES_URL"] { unsetenv(name) } }
    try await use()
}

/// A socket that listens on a port of 127.0.0.1, and the port.
private func listening() throws -> (Int32, UInt16) {
    #if canImport(Darwin)
    let stream = SOCK_STREAM
    #else
    let stream = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(listener, address, size) != 0 || listen(listener, 8) != 0 || getsockname(listener, address, &size) != 0
        }
    }
    if failed { throw Differs(description: "no server: \(String(cString: strerror(errno)))") }
    return (listener, UInt16(bigEndian: address.sin_port))
}

/// The variants that are here.
private func variants() -> [Json] {
    workloads.first { $0.name == "bytes" }!.variants.filter { $0["unavailable"] == .null }
}

private func ran(
    _ variant: Json, _ size: Int, _ mode: String, chunk: UInt64 = 65_536, verify: Bool = false
) async throws -> Timing {
    let params: [String: Json] = [
        "source": variant["only"]["source"].list[0], "mode": .text(mode), "chunk": .integer(chunk),
    ]
    let run = Run(wantsPhases: false, id: 1, size: size, seed: 1, verify: verify, params: params, iterations: 2)
    return try await performs[["bytes", variant["name"]]]!(run)
}

private func gives(_ size: Int, _ right: (sum8: UInt64, fnv: UInt64), chunk: UInt64 = 65_536) async throws {
    for variant in variants() {
        for mode in variant["only"]["mode"].list.map(\.text) {
            let one = ["sum8": right.sum8, "fnv": right.fnv][mode] ?? UInt64(size)
            let what = "\(variant["name"].text) \(mode) of \(size)"
            let timed = try await ran(variant, size, mode, chunk: chunk)
            try same(timed.answer, one &* 2, what)
            try same(timed.extra, [:], what)
            let counted = try await ran(variant, size, mode, chunk: chunk, verify: true)
            try same(counted.answer, one &* 2, what)
            try same(counted.extra, ["executed": .integer(UInt64(2 * size))], what)
        }
    }
}

private func waysOfFiles() -> [(String, any Way)] {
    [
        ("Data/for", Whole<For>()), ("Data/forEach", Whole<ForEach>()), ("Data/reduce", Whole<Reduce>()),
        ("Data/indices", Whole<Indices>()), ("Data/unsafe", Whole<Unsafe>()),
        ("Data.mapped/unsafe", Whole<Unsafe>(options: .alwaysMapped)), ("Array/for", WholeArray<For>()),
    ] + waysOfPieces()
}

private func waysOfPieces() -> [(String, any Way)] {
    [
        ("FileHandle/for", Handle<For>()), ("FileHandle/unsafe", Handle<Unsafe>()), ("InputStream/for", Input<For>()),
        ("read/for", Reading<For>()), ("read/unsafe", Reading<Unsafe>()),
        ("AsyncStream.chunks/unsafe", ChunkStream<Unsafe>()), ("AsyncStream.bytes/for", StreamedBytes()),
        ("AsyncSequence.bytes/for", OwnBytes()), ("AsyncSequence.bytes/reduce", OwnBytesReduced()),
    ]
}

/// What is said where something cannot be read.
private func refusal(_ variant: Json, _ size: Int) async throws -> String {
    do {
        _ = try await ran(variant, size, variant["only"]["mode"].list[0].text)
    } catch { return "\(error)" }
    throw Differs(description: "\(variant["name"].text) read what is not there")
}

func bytesTests() async {
    declareBytes()
    signal(SIGPIPE, SIG_IGN)

    await test("every way of reading bytes gives the published sums, and counts each byte") {
        try same(variants().count >= 17, true, "variants")
        for (size, sum8, fnv) in published {
            let content = content(size)
            try same([sums(content).sum8, sums(content).fnv], [sum8, fnv], "content of \(size)")
            // What is not optimised takes half a minute for a MiB in all ways.
            if size <= 65_536 { try await with(content) { try await gives(size, (sum8, fnv)) } }
        }
    }

    await test("a MiB has the published sums, by ways that are quick where nothing is optimised") {
        try await with(content(1_048_576)) {
            for variant in variants() where variant["name"].text.hasSuffix("/unsafe") {
                try same(try await ran(variant, 1_048_576, "fnv").answer, published[2].2 &* 2, variant["name"].text)
            }
        }
    }

    await test("the last chunk may have any length") {
        for (size, chunk) in [(1, 65_536), (65_535, 65_536), (65_537, 65_536), (65_537, 1_000), (999, 1)] as [(Int, UInt64)] {
            let content = content(size)
            try await with(content) { try await gives(size, sums(content), chunk: chunk) }
        }
    }

    await test("swapped bytes have another hash") {
        var content = content(65_536)
        content.swapAt(40_000, 40_001)
        try await with(content) {
            for variant in variants() where variant["only"]["mode"].list.contains("fnv") {
                let name = variant["name"].text
                try same(try await ran(variant, 65_536, "fnv").answer == published[1].2 &* 2, false, name)
                try same(try await ran(variant, 65_536, "sum8").answer, published[1].1 * 2, name)
            }
        }
    }

    await test("an empty file has the sum of nothing") {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("taskscale-\(UUID().uuidString)")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for (name, way) in waysOfFiles() {
            let origin = Origin(file, chunk: 100)
            try same(try await way.pass(Sum8.self, origin), 0, name)
            try same(try await way.pass(Fnv.self, origin), 0xCBF2_9CE4_8422_2325, name)
        }
    }

    await test("a read may give less than the buffer holds") {
        let content = content(20_011)
        for (name, way) in waysOfPieces() {
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            let writing = ends[1]
            Thread.detachNewThread {
                writeInPieces(writing, content)
                close(writing)
            }
            let origin = Origin(URL(fileURLWithPath: "/dev/fd/\(ends[0])"), chunk: 4_096)
            let hash = try await way.pass(Fnv.self, origin)
            close(ends[0])
            try same(hash, sums(content).fnv, name)
        }
    }

    await test("what is missing is named") {
        for variant in variants() {
            let variable = variant["only"]["source"].list == ["http"] ? "TASKSCALE_BYTES_URL" : "TASKSCALE_BYTES"
            let said = try await refusal(variant, 5)
            try same(said.hasPrefix("\(variable) is not set"), true, said)
        }
        try await with(content(8)) {
            for variant in variants() {
                let said = try await refusal(variant, 5)
                try same(said.contains("/5.bytes cannot be read: "), true, "\(variant["name"].text): \(said)")
            }
        }
    }
}
