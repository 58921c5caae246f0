// A `run` request, checked against the description: every field present and of its kind, every parameter declared.

/// A request that cannot be done. Its text says what failed, on what, and what to do.
public struct Refused: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }
}

/// What a `run` request asks for.
public struct Run: Sendable {
    /// At least 1.
    public let size: Int
    /// At least 1.
    public internal(set) var iterations: Int
    /// At most 2^53 - 1, which every JSON reader keeps exact.
    public let seed: UInt64
    /// Whether every task's execution is to be counted, by what it did.
    public let verify: Bool
    let wantsPhases: Bool
    /// A value for every declared parameter.
    public let params: [String: Json]
    let id: UInt64
    let perform: Perform

    /// Reads `message`; throws `Refused` where it cannot be done.
    init(_ message: [String: Json]) throws {
        let workload = try named(workloads, \.name, text(message, "workload"), "workload")
        let variant = try named(workload.variants, \.name, text(message, "variant"), "variant")
        perform = variant.perform
        size = try atLeastOne(message, "size")
        if let most = variant.maxSize, size > most {
            throw Refused("size \(size) is above \(most), the most that variant \(quoted(variant.name)) can bear")
        }
        seed = try natural(message, "seed")
        if seed >= 1 << 53 { throw Refused("seed \(seed) is above \((1 << 53) - 1) (2^53 - 1)") }
        id = try natural(message, "id")
        iterations = try atLeastOne(message, "iterations")
        guard case .object(var given) = message["params"] ?? [:] else {
            throw Refused("params is \(message["params"]!.short), not an object")
        }
        verify = try flag("verify", given.removeValue(forKey: "verify"))
        wantsPhases = try flag("phases", given.removeValue(forKey: "phases"))
        params = try chosen(workload.params, variant, given)
        if let missing = variant.unavailable {
            throw Refused("variant \(quoted(variant.name)) \(missing.reason); \(missing.remedy)")
        }
    }

    /// The value of a parameter that is declared with an integer as its default.
    public func integer(_ name: String) -> UInt64 {
        guard case .integer(let value) = params[name] else { preconditionFailure("no integer \(name) is declared") }
        return value
    }

    /// The value of a parameter that is declared with a word as its default.
    public func word(_ name: String) -> String {
        guard case .text(let value) = params[name] else { preconditionFailure("no word \(name) is declared") }
        return value
    }
}

/// All declared parameters, with the values given or else their defaults.
private func chosen(_ declared: [Param], _ variant: Variant, _ given: [String: Json]) throws -> [String: Json] {
    for (name, value) in given {
        let param = try named(declared, \.name, name, "parameter")
        if !takes(param, value) {
            throw Refused("parameter \(name) cannot be \(value.short); it is \(kind(param))")
        }
    }
    var values: [String: Json] = [:]
    for param in declared {
        let allowed = variant.only[param.name] ?? []
        let fits = allowed.isEmpty || allowed.contains(param.byDefault)
        let value = given[param.name] ?? (fits ? param.byDefault : allowed[0])
        if !allowed.isEmpty && !allowed.contains(value) {
            let wanted = "\(param.name) \(value.short), only with \(listed(allowed))"
            throw Refused("variant \(quoted(variant.name)) cannot be run with \(wanted)")
        }
        values[param.name] = value
    }
    return values
}

private func takes(_ param: Param, _ value: Json) -> Bool {
    switch (param.byDefault, value) {
    case (.flag, .flag), (.integer, .integer), (.text, .text): param.choices.isEmpty || param.choices.contains(value)
    default: false
    }
}

private func kind(_ param: Param) -> String {
    switch param.byDefault {
    case _ where !param.choices.isEmpty: "one of \(listed(param.choices))"
    case .flag: "true or false"
    case .integer: "an integer from 0 to 2^64 - 1"
    default: "a word"
    }
}

private func named<T>(_ known: [T], _ path: KeyPath<T, String>, _ name: String, _ what: String) throws -> T {
    if let found = known.first(where: { $0[keyPath: path] == name }) { return found }
    let names = known.map { $0[keyPath: path] }.joined(separator: ", ")
    throw Refused("unknown \(what) \(quoted(name)); known here: \(names)")
}

private func field(_ message: [String: Json], _ name: String) throws -> Json {
    guard let value = message[name] else { throw Refused("the request has no field \(quoted(name))") }
    return value
}

private func text(_ message: [String: Json], _ name: String) throws -> String {
    let value = try field(message, name)
    guard case .text(let text) = value else { throw Refused("\(name) is \(value.short), not a string") }
    return text
}

private func natural(_ message: [String: Json], _ name: String) throws -> UInt64 {
    let value = try field(message, name)
    guard case .integer(let integer) = value else {
        throw Refused("\(name) is \(value.short), not an integer from 0 to 2^64 - 1")
    }
    return integer
}

private func atLeastOne(_ message: [String: Json], _ name: String) throws -> Int {
    let value = try natural(message, name)
    if value == 0 { throw Refused("\(name) is 0; it must be at least 1") }
    guard let count = Int(exactly: value) else { throw Refused("\(name) \(value) is above \(Int.max)") }
    return count
}

private func flag(_ name: String, _ value: Json?) throws -> Bool {
    guard let value else { return false }
    guard case .flag(let flag) = value else {
        throw Refused("parameter \(name) cannot be \(value.short); it is true or false")
    }
    return flag
}

private func listed(_ values: [Json]) -> String {
    values.map(\.line).joined(separator: ", ")
}

func quoted(_ text: String) -> String {
    Json.text(text).short
}
