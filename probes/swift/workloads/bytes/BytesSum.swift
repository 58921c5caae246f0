// What is made of the bytes of `bytes`: a sum, and how a language's own forms of iteration add a byte to it. Each form is
// compiled once for each sum.

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A sum over bytes, by its step.
protocol Sum: Sendable {
    associatedtype State: Sendable

    static var start: State { get }
    static func step(_ state: State, _ byte: UInt8) -> State
    static func answer(_ state: State) -> UInt64
    /// How many bytes went into it, where that is counted.
    static func consumed(_ state: State) -> Int
}

/// The sum of all bytes modulo 256.
enum Sum8: Sum {
    static var start: UInt8 { 0 }
    static func step(_ sum: UInt8, _ byte: UInt8) -> UInt8 { sum &+ byte }
    static func answer(_ sum: UInt8) -> UInt64 { UInt64(sum) }
    static func consumed(_ sum: UInt8) -> Int { 0 }
}

/// FNV-1a of 64 bits.
enum Fnv: Sum {
    static var start: UInt64 { 0xCBF2_9CE4_8422_2325 }
    static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    static func answer(_ hash: UInt64) -> UInt64 { hash }
    static func consumed(_ hash: UInt64) -> Int { 0 }
}

/// The same of an instrumented run, which counts each byte.
enum CountedSum<Of: Sum>: Sum {
    struct State: Sendable { var sum: Of.State, bytes: Int }

    static var start: State { State(sum: Of.start, bytes: 0) }
    static func step(_ state: State, _ byte: UInt8) -> State {
        State(sum: Of.step(state.sum, byte), bytes: state.bytes + 1)
    }
    static func answer(_ state: State) -> UInt64 { Of.answer(state.sum) }
    static func consumed(_ state: State) -> Int { state.bytes }
}

/// Bytes in memory, which may be iterated over in every form.
typealias Bytes = RandomAccessCollection & ContiguousBytes

/// A form of iteration: adds all bytes to a state.
protocol Access: Sendable {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ state: S.State) -> S.State where B.Element == UInt8
}

enum For: Access {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ start: S.State) -> S.State where B.Element == UInt8 {
        var state = start
        for byte in bytes { state = S.step(state, byte) }
        return state
    }
}

enum ForEach: Access {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ start: S.State) -> S.State where B.Element == UInt8 {
        var state = start
        bytes.forEach { state = S.step(state, $0) }
        return state
    }
}

enum Reduce: Access {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ start: S.State) -> S.State where B.Element == UInt8 {
        bytes.reduce(start) { S.step($0, $1) }
    }
}

enum Indices: Access {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ start: S.State) -> S.State where B.Element == UInt8 {
        var state = start
        for index in bytes.indices { state = S.step(state, bytes[index]) }
        return state
    }
}

enum Unsafe: Access {
    static func fold<S: Sum, B: Bytes>(_: S.Type, _ bytes: B, _ start: S.State) -> S.State where B.Element == UInt8 {
        bytes.withUnsafeBytes { buffer in
            var state = start
            for byte in buffer { state = S.step(state, byte) }
            return state
        }
    }
}
