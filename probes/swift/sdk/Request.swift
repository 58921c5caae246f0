// A `run` request, made into a Run. The tool has held it to the description before it was sent (`probes/PROTOCOL.md`).

/// What cannot be done. Its text says what failed, on what, and what to do.
public struct Refused: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}

/// What a `run` request asks for: `verify` asks that every task's execution is counted by what it did; `params` has a
/// value for every declared parameter.
public struct Run: Sendable {
    let wantsPhases: Bool
    public let id: UInt64, size: Int, seed: UInt64, verify: Bool, params: [String: Json]
    public var iterations: Int

    /// The value of a parameter that is declared with an integer as its default.
    public func integer(_ name: String) -> UInt64 {
        if case .integer(let value) = params[name] { value } else { preconditionFailure("no integer \(name) is declared") }
    }

    /// The value of a parameter that is declared with a word as its default.
    public func word(_ name: String) -> String {
        if case .text(let value) = params[name] { value } else { preconditionFailure("no word \(name) is declared") }
    }
}

/// How what is asked for is performed, and the run, in which every declared parameter has a value: the one given, or else
/// the default, or where the variant excludes that, the first value that it allows.
func request(_ message: Json) throws -> (Perform, Run) {
    let workload = workloads[try known(workloads.map { .text($0.name) }, message["workload"], "workload")]
    let variant = workload.variants[try known(workload.variants.map { $0["name"] }, message["variant"], "variant")]
    let pairs = workload.params.map { param in
        let (name, usual) = (param["name"].text, param["default"])
        let allowed = variant["only"][name].list
        return (name, allowed.isEmpty || allowed.contains(usual) ? usual : allowed[0])
    }
    let given = message["params"]
    let params = Dictionary(uniqueKeysWithValues: pairs).merging(given.object) { _, given in given }
    let run = Run(
        wantsPhases: given["phases"] == true, id: try natural(message, "id"), size: Int(try natural(message, "size")),
        seed: try natural(message, "seed"), verify: given["verify"] == true, params: params,
        iterations: Int(try natural(message, "iterations")))
    return (performs[[message["workload"], message["variant"]]]!, run)
}

/// The place of a name; throws where it is not.
private func known(_ names: [Json], _ name: Json, _ what: String) throws -> Int {
    if let index = names.firstIndex(of: name) { return index }
    throw Refused("unknown \(what) \(name.line); known here: \(names.map(\.text).joined(separator: " "))")
}

/// An integer that JavaScript keeps exact, as the tool sends no others.
private func natural(_ message: Json, _ name: String) throws -> UInt64 {
    if case .integer(let value) = message[name], value < 1 << 53 { return value }
    throw Refused("the request has no integer \(name)")
}
