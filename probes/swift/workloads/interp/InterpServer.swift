// A server of HTTP/1.1 of the probe's own, no framework. Sources of Dispatch tell what comes on sockets that do not block; each
// connection is a task on the pool, as async functions are by default.

import Dispatch
import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a request is answered.
struct Response: Sendable {
    var status = "200 OK"
    let body: [UInt8]

    /// With the only header that each response has.
    func written(closes: Bool) -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.count)\r\n".utf8)
        if closes { bytes.append(contentsOf: "Connection: close\r\n".utf8) }
        bytes.append(contentsOf: "\r\n".utf8)
        return bytes + body
    }

    static func refusal(_ status: String) -> Response { Response(status: status, body: Array("\(status)\n".utf8)) }
}

typealias Answer = @Sendable () async -> Response

/// A server on a port of 127.0.0.1 that the system chooses.
final class Server: Sendable {
    let port: UInt16
    private let connections: Task<Void, Never>

    /// Listens from now on. `answer` is asked for each `GET /`.
    init(_ answer: @escaping Answer) throws {
        let (listener, port) = try listening()
        self.port = port
        let queue = DispatchQueue(label: "taskscale.server")
        let (sockets, accepted) = AsyncStream.makeStream(of: Descriptor.self)
        let accepting = whenReadable(listener, queue) { _ in
            while case let socket = accept(listener.number, nil, nil), socket >= 0 { accepted.yield(Descriptor(socket)) }
        }
        connections = Task {
            await withDiscardingTaskGroup { group in
                for await socket in sockets {
                    group.addTask {
                        var connection = Connection(socket, queue)
                        await connection.serve(answer)
                    }
                }
                accepting.cancel()
            }
        }
    }

    /// Accepts no more and ends all connections. Returns when they have ended.
    func stop() async {
        connections.cancel()
        await connections.value
    }
}

/// Has `take` called on `queue` whenever something can be read, until the source is cancelled.
private func whenReadable(
    _ file: Descriptor, _ queue: DispatchQueue, _ take: @escaping (any DispatchSourceRead) -> Void
) -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: file.number, queue: queue)
    source.setEventHandler { take(source) }
    // Kept until then: a number that is closed is soon another file's.
    source.setCancelHandler { _ = file }
    source.activate()
    return source
}

/// A connection, of which one task takes the requests.
private struct Connection {
    private let socket: Descriptor
    private let queue: DispatchQueue
    private let readable: any DispatchSourceRead
    /// What has come.
    private var arriving: AsyncStream<[UInt8]>.Iterator
    private var received: [UInt8] = []

    init(_ socket: Descriptor, _ queue: DispatchQueue) {
        socket.set(IPPROTO_TCP, TCP_NODELAY)
        (self.socket, self.queue) = (socket, queue)
        // A client that sends more than that before it is answered is cut off.
        let (arriving, arrived) = AsyncStream.makeStream(of: [UInt8].self, bufferingPolicy: .bufferingOldest(16))
        self.arriving = arriving.makeAsyncIterator()
        readable = whenReadable(socket, queue) { source in
            var failed: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { bytes, count in
                let got = read(socket.number, bytes.baseAddress, bytes.count)
                (count, failed) = (max(got, 0), got < 0 ? errno : 0)
            }
            if failed == EAGAIN || failed == EINTR { return }
            if !bytes.isEmpty, case .enqueued = arrived.yield(bytes) { return }
            // The end of a file would be told again and again.
            source.cancel()
            arrived.finish()
        }
    }

    /// Answers requests until either side ends, or the task is cancelled.
    mutating func serve(_ answer: Answer) async {
        defer { readable.cancel() }
        while let head = await next() {
            let response: Response, closes: Bool
            switch head {
            case nil: (response, closes) = (.refusal("400 Bad Request"), true)
            case let head? where head.hasBody: (response, closes) = (.refusal("413 Content Too Large"), true)
            case let head? where head.method != "GET": (response, closes) = (.refusal("405 Method Not Allowed"), head.closes)
            case let head? where head.target != "/": (response, closes) = (.refusal("404 Not Found"), head.closes)
            case let head?: (response, closes) = (await answer(), head.closes)
            }
            guard await put(response.written(closes: closes)), !closes else { return }
        }
    }

    /// The next request: what is known of it, or nil where it is none. Nil too where no other one comes.
    private mutating func next() async -> RequestHead?? {
        while true {
            if let end = endOfHead(received) {
                let head = RequestHead(received[..<end])
                received.removeSubrange(..<(end + 4))
                return .some(head)
            }
            if received.count > 65_536 { return .some(nil) }
            guard let bytes = await arriving.next() else { return nil }
            received += bytes
        }
    }

    /// Sends all of it. Returns whether the client took it.
    private func put(_ bytes: [UInt8]) async -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { send(socket.number, $0.baseAddress! + sent, $0.count - sent, noSignal) }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                await writable()
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Waits until the socket takes more, or the task is cancelled.
    private func writable() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiting in
                let source = DispatchSource.makeWriteSource(fileDescriptor: socket.number, queue: queue)
                source.setEventHandler {
                    source.cancel()
                    waiting.resume()
                }
                source.setCancelHandler { [socket] in _ = socket }
                source.activate()
            }
        } onCancel: {
            // Whoever waits for a socket is told that nothing more can be sent.
            shutdown(socket.number, Int32(SHUT_RDWR))
        }
    }
}

/// What is known of a request: its first line and two headers.
struct RequestHead {
    let method: String, target: String
    private(set) var closes: Bool, hasBody = false

    /// Nil where these lines are no request.
    init?(_ lines: ArraySlice<UInt8>) {
        let lines = lines.split(separator: UInt8(ascii: "\n"))
        let words = (lines.first ?? []).split(separator: UInt8(ascii: " "))
        guard words.count == 3, words[2].starts(with: "HTTP/1.".utf8) else { return nil }
        (method, target) = (String(decoding: words[0], as: UTF8.self), String(decoding: words[1], as: UTF8.self))
        closes = !words[2].starts(with: "HTTP/1.1".utf8)
        for line in lines.dropFirst() {
            let length = line.first.map { $0 | 0x20 } ?? 0
            // Only headers with these first letters matter.
            guard length == UInt8(ascii: "c") || length == UInt8(ascii: "t") else { continue }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let (name, value) = (lower(line[..<colon]), lower(line[(colon + 1)...]))
            if name == "connection" { closes = closes || value == "close" }
            if name == "transfer-encoding" || (name == "content-length" && value != "0") { hasBody = true }
        }
    }
}

/// In small letters, without blanks around.
private func lower(_ bytes: ArraySlice<UInt8>) -> String {
    let blank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 || $0 == 13 }
    let begin = bytes.firstIndex { !blank($0) } ?? bytes.endIndex
    let end = bytes.lastIndex { !blank($0) }.map { $0 + 1 } ?? begin
    return String(decoding: bytes[begin..<end], as: UTF8.self).lowercased()
}

/// Where the empty line begins behind a request's first line and headers, its line break included.
private func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (0...(bytes.count - 4)).first { bytes[$0..<($0 + 4)].elementsEqual([13, 10, 13, 10]) }
}

/// A file that is closed when nobody has it any more.
private final class Descriptor: Sendable {
    let number: Int32

    /// It does not block from now on.
    init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        #if canImport(Darwin)
        set(SOL_SOCKET, SO_NOSIGPIPE)
        #endif
    }

    deinit { close(number) }

    /// Switches an option on.
    func set(_ level: some BinaryInteger, _ option: Int32) {
        var on: Int32 = 1
        setsockopt(number, Int32(level), option, &on, socklen_t(MemoryLayout<Int32>.size))
    }
}

// A client that is gone is an error of its connection, and no signal.
#if canImport(Darwin)
private let noSignal: Int32 = 0
#else
private let noSignal = Int32(MSG_NOSIGNAL)
#endif

/// A socket that listens on a port of 127.0.0.1, and the port.
private func listening() throws -> (Descriptor, UInt16) {
    #if canImport(Darwin)
    let stream = SOCK_STREAM
    #else
    let stream = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = Descriptor(socket(AF_INET, stream, 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let failed = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            bind(listener.number, address, size) != 0 || listen(listener.number, 128) != 0
                || getsockname(listener.number, address, &size) != 0
        }
    }
    if failed { throw Refused("a server on 127.0.0.1 cannot be started: \(String(cString: strerror(errno)))") }
    return (listener, UInt16(bigEndian: address.sin_port))
}
