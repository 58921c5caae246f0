// `bytes`: a stream of `size` bytes, read from its start to its end and summed up. Timed is from before the file is opened, or
// the request sent, until the sum is known.

import Foundation
import TaskscaleProbe

/// The workload `bytes`. Answer of an iteration: the sum, or the number of bytes where none is asked for.
func declareBytes() {
    param("bytes", "source", "file", help: "where bytes come from", choices: ["file", "http"])
    param(
        "bytes", "mode", "sum8", help: "the sum of all bytes modulo 256, FNV-1a of 64 bits, or none",
        choices: ["sum8", "fnv", "none"])
    param("bytes", "chunk", 65_536, help: "bytes of the buffer, of variants that read into one")
    declareBytesOfFiles()
    declareBytesOverHttp()
}

/// Where bytes come from, and how many of them are read at a time.
struct Origin: Sendable {
    let url: URL, chunk: Int

    var path: String { url.path }
    var place: String { url.isFileURL ? url.path : url.absoluteString }

    init(_ url: URL, chunk: Int) { (self.url, self.chunk) = (url, chunk) }

    init(_ run: Run) throws {
        let served = run.word("source") == "http"
        let variable = served ? "TASKSCALE_BYTES_URL" : "TASKSCALE_BYTES"
        let what = served ? "the address of a server of \(run.size).bytes" : "the folder of \(run.size).bytes"
        guard let place = ProcessInfo.processInfo.environment[variable], !place.isEmpty else {
            throw Refused("\(variable) is not set: it is \(what), and taskscale sets it for its probes")
        }
        let name = "/\(run.size).bytes"
        guard let url = served ? URL(string: place + name) : URL(fileURLWithPath: place + name) else {
            throw Refused("\(variable) is \(place), which is no address; it is \(what)")
        }
        self.init(url, chunk: Int(run.integer("chunk")))
    }
}

/// A way of fetching all bytes of a file and of adding them up.
protocol Way: Sendable {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State
}

/// Declares a way of reading a file.
func bytesWay<W: Way>(_ name: String, _ way: W, maxSize: Int? = nil, note: String? = nil) {
    variant(
        "bytes", name, createsTask: false, only: ["source": ["file"], "mode": ["sum8", "fnv"]], maxSize: maxSize, note: note
    ) { run in try await performBytes(run, way) }
}

/// Declares one that this system does not have.
func bytesWay(_ name: String, unavailable: Unavailable) {
    variant(
        "bytes", name, createsTask: false, only: ["source": ["file"], "mode": ["sum8", "fnv"]], unavailable: unavailable
    ) { _ in throw Refused("never asked: the tool asks for nothing unavailable") }
}

func performBytes<W: Way>(_ run: Run, _ way: W) async throws -> Timing {
    switch (run.word("mode"), run.verify) {
    case ("fnv", false): return try await time(run, way, Fnv.self)
    case ("fnv", true): return try await time(run, way, CountedSum<Fnv>.self)
    case (_, false): return try await time(run, way, Sum8.self)
    case (_, true): return try await time(run, way, CountedSum<Sum8>.self)
    }
}

private func time<W: Way, S: Sum>(_ run: Run, _ way: W, _: S.Type) async throws -> Timing {
    let origin = try Origin(run)
    var consumed = 0
    var timing = try await reading(origin) {
        try await run.time { _ in
            let state = try await way.pass(S.self, origin)
            consumed += S.consumed(state)
            return S.answer(state)
        }
    }
    if run.verify { timing.extra["executed"] = .integer(UInt64(consumed)) }
    return timing
}

/// Says what could not be read.
func reading(_ origin: Origin, _ timed: () async throws -> Timing) async throws -> Timing {
    do {
        return try await timed()
    } catch {
        throw Refused("\(origin.place) cannot be read: \(error)")
    }
}
