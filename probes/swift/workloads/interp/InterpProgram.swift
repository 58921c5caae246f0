// The programs: the one that all languages share, and nested lets of any depth.

import TaskscaleProbe

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `probes/interp/program.json`, which lies outside the sources that the `taskscale` binary has.
let sharedProgram =
    #"["let","range",["call","Int::range",[["int",1],["int",100]]],"#
    + #"["call","List::map",[["var","range"],["lambda",["i"],"#
    + #"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],"#
    + #"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],"#
    + #"["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],"#
    + #"["call","Int::toString",[["var","i"]]]]]]]]]]"#

/// A node of the tree.
indirect enum Node: Sendable {
    case literal(Value)
    case variable(String)
    case bind(String, Node, Node)
    case binary(Callee, Node, Node)
    case call(Callee, [Node])
    case lambda([String], Node)
    case choice(Node, Node, Node)
}

/// How a call names its function.
struct Callee: Sendable {
    let name: String
    /// The function, where it was looked up after parsing.
    let linked: Function?
}

/// The shared program, read once for each way of looking functions up.
private let shared = [false: readShared(linked: false), true: readShared(linked: true)]

private func readShared(linked: Bool) -> Node {
    guard let node = try? program(sharedProgram, linked: linked) else { preconditionFailure("the program cannot be read") }
    return node
}

/// The shared program, or `depth` nested lets where that is above zero. With `linked` the tree holds the functions.
func program(depth: UInt64, linked: Bool) -> Node { depth > 0 ? nested(depth) : shared[linked]! }

/// Reads a program in JSON.
func program(_ text: String, linked: Bool) throws -> Node {
    try node(JSONDecoder().decode(Json.self, from: Data(text.utf8)), linked)
}

private func node(_ json: Json, _ linked: Bool) throws -> Node {
    guard case .list(let parts) = json, parts.count >= 2, case .text(let kind) = parts[0] else {
        throw Refused("no node of a program: \(json)")
    }
    func part(_ index: Int) throws -> Node { try node(parts[index], linked) }
    func word(_ json: Json) throws -> String {
        guard case .text(let word) = json else { throw Refused("no word: \(json)") }
        return word
    }
    func callee() throws -> Callee {
        let name = try word(parts[1])
        return Callee(name: name, linked: linked ? functions[name] : nil)
    }
    switch (kind, parts[1], parts.count) {
    case ("int", .integer(let integer), 2): return .literal(.int(Int64(integer)))
    case ("str", .text(let text), 2): return .literal(.text(text))
    case ("var", .text(let name), 2): return .variable(name)
    case ("let", .text(let name), 4): return .bind(name, try part(2), try part(3))
    case ("bin", _, 4): return .binary(try callee(), try part(2), try part(3))
    case ("call", _, 3):
        guard case .list(let arguments) = parts[2] else { throw Refused("no arguments: \(parts[2])") }
        return .call(try callee(), try arguments.map { try node($0, linked) })
    case ("lambda", .list(let params), 3): return .lambda(try params.map(word), try part(2))
    case ("if", _, 4): return .choice(try part(1), try part(2), try part(3))
    default: throw Refused("no node of a program: \(json)")
    }
}

/// `let x0 = 1 in let x1 = x0 in .. x_last`, made from the inside out.
private func nested(_ depth: UInt64) -> Node {
    var body = Node.variable("x\(depth - 1)")
    for i in (0..<depth).reversed() {
        body = .bind("x\(i)", i == 0 ? .literal(.int(1)) : .variable("x\(i - 1)"), body)
    }
    return body
}

/// The right output of the program, by its definition.
func rightOutput() -> [UInt8] {
    let words = (1...100).map { i in
        i % 15 == 0 ? "\"fizzbuzz\"" : i % 5 == 0 ? "\"buzz\"" : i % 3 == 0 ? "\"fizz\"" : "\"\(i)\""
    }
    return Array("[\(words.joined(separator: ","))]".utf8)
}
