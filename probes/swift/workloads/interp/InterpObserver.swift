// What an instrumented run counts. A timed evaluator is compiled with `Silent`, which is nothing.

import TaskscaleProbe

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Sees what an evaluator does.
protocol Observer: Sendable {
    /// Whether there is anything to be seen.
    static var counts: Bool { get }

    func entered()
    func left()
    func called()
    func extended()
    func begins(_ element: Value)
    func hasValue(_ element: Value)
    func suspended()
    /// A result that can be used once is there to be used.
    func made()
    /// It was used.
    func taken()
    func answered(_ output: [UInt8])
}

/// Sees nothing.
struct Silent: Observer {
    @inline(__always) static var counts: Bool { false }
    @inline(__always) func entered() {}
    @inline(__always) func left() {}
    @inline(__always) func called() {}
    @inline(__always) func extended() {}
    @inline(__always) func begins(_: Value) {}
    @inline(__always) func hasValue(_: Value) {}
    @inline(__always) func suspended() {}
    @inline(__always) func made() {}
    @inline(__always) func taken() {}
    @inline(__always) func answered(_: [UInt8]) {}
}

/// Counts, behind one lock.
final class Counting: Observer, @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var sums: [String: UInt64] = [:]
    private var (live, deepest): (UInt64, UInt64) = (0, 0)
    private var (uses, log): (Int, String) = (0, "")
    private var (order, output): (UInt64, UInt64) = (0, 0)

    static var counts: Bool { true }

    init() {
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func entered() {
        locked {
            sums["nodes", default: 0] += 1
            live += 1
            deepest = max(deepest, live)
        }
    }

    func left() { locked { live -= 1 } }
    func called() { locked { sums["builtins", default: 0] += 1 } }
    func extended() { locked { sums["extensions", default: 0] += 1 } }

    func begins(_ element: Value) {
        locked { sums["applications", default: 0] += 1 }
        logged("B", element)
    }

    func hasValue(_ element: Value) { logged("E", element) }
    func suspended() { locked { sums["suspended", default: 0] += 1 } }
    func made() { locked { uses += 1 } }
    func taken() { locked { uses -= 1 } }

    func answered(_ bytes: [UInt8]) {
        locked { (output, order, log) = (fnv1a(bytes), fnv1a(Array(log.utf8)), "") }
    }

    private func logged(_ what: String, _ element: Value) {
        var bytes: [UInt8] = []
        _ = element.write(into: &bytes)
        locked { log += "\(what) \(String(decoding: bytes, as: UTF8.self))\n" }
    }

    /// The counts of several workers, under the names of the protocol. Numbers of 64 bits are exact here. The last request is
    /// one of the last worker that had any.
    static func report(_ all: [Counting]) -> [String: Json] {
        var extra: [String: Json] = [:]
        for name in ["nodes", "builtins", "applications", "extensions", "suspended"] {
            extra[name] = .integer(all.reduce(0) { $0 + ($1.sums[name] ?? 0) })
        }
        extra["deepest"] = .integer(all.map(\.deepest).max() ?? 0)
        // Results that were never used, or used more than once.
        extra["consumed_twice"] = .integer(all.reduce(0) { $0 + UInt64(abs($1.uses)) })
        if let last = all.last(where: { $0.deepest > 0 }) {
            (extra["order"], extra["output"]) = (.integer(last.order), .integer(last.output))
        }
        return extra
    }

    private func locked(_ change: () -> Void) {
        pthread_mutex_lock(lock)
        change()
        pthread_mutex_unlock(lock)
    }
}

/// FNV-1a with 64 bits.
func fnv1a(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
}
