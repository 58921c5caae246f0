// `bytes` from a file: whole, in chunks, and through an asynchronous sequence.

import Foundation
import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

func declareBytesOfFiles() {
    bytesWay("Data/for", Whole<For>())
    bytesWay("Data/forEach", Whole<ForEach>())
    bytesWay("Data/reduce", Whole<Reduce>())
    bytesWay("Data/indices", Whole<Indices>(), note: "for index in data.indices, data[index]")
    bytesWay("Data/unsafe", Whole<Unsafe>(), note: "for inside withUnsafeBytes")
    bytesWay("Data.mapped/unsafe", Whole<Unsafe>(options: .alwaysMapped), note: "Data(contentsOf:options: .alwaysMapped)")
    bytesWay("Array/for", WholeArray<For>(), note: "[UInt8](Data(contentsOf:))")
    bytesWay("FileHandle/for", Handle<For>(), note: "read(upToCount:), which makes a Data of each chunk")
    bytesWay("FileHandle/unsafe", Handle<Unsafe>(), note: "the same, for inside withUnsafeBytes")
    bytesWay("InputStream/for", Input<For>(), note: "read(_:maxLength:) into an array")
    bytesWay("read/for", Reading<For>(), note: "read(2) into an array")
    bytesWay("read/unsafe", Reading<Unsafe>(), note: "the same, for inside withUnsafeBytes")
    variant(
        "bytes", "read/none", createsTask: false, only: ["source": ["file"], "mode": ["none"]],
        note: "read(2) into an array that nobody looks at: the floor"
    ) { run in try await performUnread(run) }
    bytesWay("AsyncStream.chunks/unsafe", ChunkStream<Unsafe>(), note: "AsyncThrowingStream(unfolding:) of arrays")
    bytesWay(
        "AsyncStream.bytes/for", StreamedBytes(), maxSize: 1 << 24,
        note: "AsyncThrowingStream(unfolding:) of single bytes; 16 MiB take some 8 s")
    bytesWay(
        "AsyncSequence.bytes/for", OwnBytes(), maxSize: 1 << 28,
        note: "an AsyncSequence of one's own, next() of which rarely waits; 256 MiB take some 6 s")
    bytesWay("AsyncSequence.bytes/reduce", OwnBytesReduced(), note: "the same")
    #if canImport(Darwin)
    bytesWay("FileHandle.bytes/for", HandleBytes())
    #else
    let missing = Unavailable(
        reason: "Foundation has FileHandle.bytes on Apple's systems alone", remedy: "run taskscale on macOS")
    bytesWay("FileHandle.bytes/for", unavailable: missing)
    #endif
}

/// `Data(contentsOf:)`.
struct Whole<A: Access>: Way {
    var options: Data.ReadingOptions = []

    func pass<S: Sum>(_: S.Type, _ origin: Origin) throws -> S.State {
        A.fold(S.self, try Data(contentsOf: origin.url, options: options), S.start)
    }
}

struct WholeArray<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) throws -> S.State {
        A.fold(S.self, [UInt8](try Data(contentsOf: origin.url)), S.start)
    }
}

struct Handle<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) throws -> S.State {
        let file = try FileHandle(forReadingFrom: origin.url)
        defer { try? file.close() }
        var state = S.start
        while let chunk = try file.read(upToCount: origin.chunk), !chunk.isEmpty { state = A.fold(S.self, chunk, state) }
        return state
    }
}

struct Input<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) throws -> S.State {
        guard let stream = InputStream(url: origin.url) else { throw Refused("it cannot be opened") }
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: origin.chunk)
        var state = S.start
        while true {
            let count = stream.read(&buffer, maxLength: buffer.count)
            if count < 0 { throw stream.streamError ?? Refused("no reason is given") }
            if count == 0 { return state }
            state = A.fold(S.self, buffer[..<count], state)
        }
    }
}

/// A file by its descriptor.
final class File: @unchecked Sendable {
    private let number: Int32

    init(_ path: String) throws {
        number = open(path, O_RDONLY)
        if number < 0 { throw Refused(String(cString: strerror(errno))) }
    }

    deinit { close(number) }

    /// Reads what there is into a buffer. 0 at the end.
    func fill(_ buffer: inout [UInt8]) throws -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { read(number, $0.baseAddress!, $0.count) }
            if count >= 0 { return count }
            if errno != EINTR { throw Refused(String(cString: strerror(errno))) }
        }
    }
}

struct Reading<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) throws -> S.State {
        let file = try File(origin.path)
        var buffer = [UInt8](repeating: 0, count: origin.chunk)
        var state = S.start
        while case let count = try file.fill(&buffer), count > 0 { state = A.fold(S.self, buffer[..<count], state) }
        return state
    }
}

/// Reads all bytes and looks at none.
private func performUnread(_ run: Run) async throws -> Timing {
    let origin = try Origin(run)
    var all: UInt64 = 0
    var timing = try await reading(origin) {
        try await run.time { _ in
            let file = try File(origin.path)
            var buffer = [UInt8](repeating: 0, count: origin.chunk)
            var bytes: UInt64 = 0
            while case let count = try file.fill(&buffer), count > 0 { bytes += UInt64(count) }
            all += bytes
            return bytes
        }
    }
    if run.verify { timing.extra["executed"] = .integer(all) }
    return timing
}

/// Chunks in a stream that reads one when it is asked for one. One to which its producer yields would hold the whole file.
struct ChunkStream<A: Access>: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State {
        let file = try File(origin.path)
        let chunks = AsyncThrowingStream<[UInt8], any Error> {
            var buffer = [UInt8](repeating: 0, count: origin.chunk)
            let count = try file.fill(&buffer)
            buffer.removeSubrange(count...)
            return count > 0 ? buffer : nil
        }
        var state = S.start
        for try await chunk in chunks { state = A.fold(S.self, chunk, state) }
        return state
    }
}

/// Single bytes of a file, out of a buffer.
struct Buffered: Sendable {
    private let file: File
    private var buffer: [UInt8]
    private var next = 0
    private var end = 0

    init(_ origin: Origin) throws {
        file = try File(origin.path)
        buffer = [UInt8](repeating: 0, count: origin.chunk)
    }

    /// The next one of the buffer; nil where all of it was given.
    @inline(__always)
    mutating func taken() -> UInt8? {
        if next == end { return nil }
        next += 1
        return buffer[next - 1]
    }

    /// Fills the buffer and gives its first; nil at the end of the file.
    mutating func filled() throws -> UInt8? {
        (next, end) = (0, try file.fill(&buffer))
        return taken()
    }
}

struct StreamedBytes: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State {
        var bytes = try Buffered(origin)
        let stream = AsyncThrowingStream<UInt8, any Error> { try bytes.taken() ?? bytes.filled() }
        var state = S.start
        for try await byte in stream { state = S.step(state, byte) }
        return state
    }
}

/// What `FileHandle.bytes` and `URLSession.bytes` are on Apple's systems: a byte is there unless the buffer is to be filled.
struct AsyncBytes: AsyncSequence {
    let origin: Origin

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var bytes: Buffered

        @inline(__always)
        mutating func next() async throws -> UInt8? {
            if let byte = bytes.taken() { return byte }
            return try await filled()
        }

        @inline(never)
        private mutating func filled() async throws -> UInt8? { try bytes.filled() }
    }

    /// Opened by whoever makes the sequence, so that a failure is told there.
    private let bytes: Buffered

    init(_ origin: Origin) throws {
        self.origin = origin
        bytes = try Buffered(origin)
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(bytes: bytes) }
}

struct OwnBytes: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State {
        var state = S.start
        for try await byte in try AsyncBytes(origin) { state = S.step(state, byte) }
        return state
    }
}

struct OwnBytesReduced: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State {
        try await AsyncBytes(origin).reduce(S.start) { S.step($0, $1) }
    }
}

#if canImport(Darwin)
struct HandleBytes: Way {
    func pass<S: Sum>(_: S.Type, _ origin: Origin) async throws -> S.State {
        let file = try FileHandle(forReadingFrom: origin.url)
        defer { try? file.close() }
        var state = S.start
        for try await byte in file.bytes { state = S.step(state, byte) }
        return state
    }
}
#endif
