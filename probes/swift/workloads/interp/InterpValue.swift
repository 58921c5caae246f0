// Values, the environment, and the builtins that cannot suspend.

/// A value of the program.
enum Value: Sendable {
    case int(Int64)
    case text(String)
    case flag(Bool)
    case list([Value])
    case lambda(Closure)
    case failure(String)
}

/// A function of the program with the environment in which it was written.
final class Closure: Sendable {
    let env: Env
    let params: [String]
    let body: Node

    init(_ env: Env, _ params: [String], _ body: Node) { (self.env, self.params, self.body) = (env, params, body) }
}

/// A persistent linked list of names and values; the empty one is nil.
typealias Env = Cell?

final class Cell: Sendable {
    let name: String
    let value: Value
    let rest: Env

    init(_ name: String, _ value: Value, _ rest: Env) { (self.name, self.value, self.rest) = (name, value, rest) }
}

/// The value that was bound last under `name`.
func find(_ env: Env, _ name: String) -> Value {
    var at = env
    while let cell = at {
        if cell.name == name { return cell.value }
        at = cell.rest
    }
    return .failure("no variable \(name)")
}

/// The first error among these values, or nil.
func failure(in values: [Value]) -> Value? {
    for value in values {
        if case .failure = value { return value }
    }
    return nil
}

/// The list of these values, or the first error among them.
func listed(_ values: [Value]) -> Value { failure(in: values) ?? .list(values) }

/// A builtin.
enum Function: Sendable {
    /// It cannot suspend.
    case plain(@Sendable ([Value]) -> Value)
    /// `List::map`, which may. Every encoding has its own.
    case map
}

/// The builtins by name.
let functions: [String: Function] = [
    "Int::range": .plain(range), "Int::%": .plain(remainder), "Int::==": .plain(equal), "Int::toString": .plain(toText),
    "List::map": .map,
]

@Sendable private func range(_ arguments: [Value]) -> Value {
    guard arguments.count == 2, case (.int(let first), .int(let last)) = (arguments[0], arguments[1]) else {
        return .failure("Int::range needs two integers")
    }
    return .list(first <= last ? (first...last).map(Value.int) : [])
}

@Sendable private func remainder(_ arguments: [Value]) -> Value {
    guard arguments.count == 2, case (.int(let left), .int(let right)) = (arguments[0], arguments[1]) else {
        return .failure("Int::% needs two integers")
    }
    // The smallest integer by -1 overflows.
    return .int(right == 0 || right == -1 ? 0 : left % right)
}

@Sendable private func equal(_ arguments: [Value]) -> Value {
    guard arguments.count == 2, case (.int(let left), .int(let right)) = (arguments[0], arguments[1]) else {
        return .failure("Int::== needs two integers")
    }
    return .flag(left == right)
}

@Sendable private func toText(_ arguments: [Value]) -> Value {
    guard arguments.count == 1, case .int(let integer) = arguments[0] else {
        return .failure("Int::toString needs an integer")
    }
    return .text(String(integer))
}

extension Value {
    /// Appends itself as compact JSON, or says what it is that JSON has no form for.
    func write(into bytes: inout [UInt8]) -> String? {
        switch self {
        case .int(let integer): bytes.append(contentsOf: String(integer).utf8)
        case .flag(let flag): bytes.append(contentsOf: String(flag).utf8)
        case .text(let text): quote(text, into: &bytes)
        case .list(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                if let wrong = value.write(into: &bytes) { return wrong }
            }
            bytes.append(UInt8(ascii: "]"))
        case .lambda: return "a lambda"
        case .failure(let text): return text
        }
        return nil
    }
}

private func quote(_ text: String, into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
        if byte < 32 {
            bytes.append(contentsOf: "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            continue
        }
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
        bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
}
