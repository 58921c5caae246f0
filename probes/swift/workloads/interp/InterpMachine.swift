// What the evaluators of all encodings share, and the encoding `sync`.

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An interpreter: which elements suspend, and who watches.
struct Machine<O: Observer>: Sendable {
    /// An element that this divides suspends; none where it is 0.
    let every: Int64
    let observer: O

    /// The function of a call, or the call's value where that is an error.
    @inline(__always)
    func callee(_ callee: Callee, _ arguments: [Value]) -> (Function?, Value) {
        if let failed = failure(in: arguments) { return (nil, failed) }
        observer.called()
        if let found = callee.linked ?? functions[callee.name] { return (found, .flag(true)) }
        return (nil, .failure("no function \(callee.name)"))
    }

    /// The environment with one more name.
    @inline(__always)
    func bind(_ env: Env, _ name: String, _ value: Value) -> Env {
        observer.extended()
        return Cell(name, value, env)
    }

    /// Begins the application to `element`. Returns whether it suspends.
    @inline(__always)
    func begins(_ element: Value) -> Bool {
        observer.begins(element)
        guard case .int(let integer) = element, every != 0 else { return false }
        return integer % every == 0
    }

    /// The environment of an application to `element`.
    @inline(__always)
    func application(_ closure: Closure, _ element: Value) -> Env { bind(closure.env, closure.params[0], element) }
}

/// Which branch a condition chooses, or the value of the `if` where that is an error.
@inline(__always)
func branch(_ condition: Value, _ then: Node, _ otherwise: Node) -> (Node?, Value) {
    switch condition {
    case .flag(true): (then, condition)
    case .flag(false): (otherwise, condition)
    case .failure: (nil, condition)
    default: (nil, .failure("a condition must be a boolean"))
    }
}

/// The list and the lambda of `List::map`.
func mapped(_ arguments: [Value]) -> ([Value], Closure)? {
    guard arguments.count == 2, case (.list(let list), .lambda(let closure)) = (arguments[0], arguments[1]),
        closure.params.count == 1
    else { return nil }
    return (list, closure)
}

let mismatch = Value.failure("List::map needs a list and a lambda of one parameter")

/// `sync`: plain recursion, which cannot suspend. An element that would yields its thread in place.
struct SyncEncoding<O: Observer>: Sendable {
    let machine: Machine<O>

    @inline(never)
    func eval(_ node: Node, _ env: Env) -> Value {
        machine.observer.entered()
        defer { machine.observer.left() }
        switch node {
        case .literal(let value): return value
        case .variable(let name): return find(env, name)
        case .binary(let function, let left, let right):
            let left = eval(left, env)
            return call(function, [left, eval(right, env)])
        case .choice(let condition, let then, let otherwise):
            let (chosen, value) = branch(eval(condition, env), then, otherwise)
            if let chosen { return eval(chosen, env) }
            return value
        case .call(let function, let nodes):
            var values: [Value] = []
            values.reserveCapacity(nodes.count)
            for node in nodes { values.append(eval(node, env)) }
            return call(function, values)
        case .bind(let name, let value, let body): return eval(body, machine.bind(env, name, eval(value, env)))
        case .lambda(let params, let body): return .lambda(Closure(env, params, body))
        }
    }

    private func call(_ callee: Callee, _ arguments: [Value]) -> Value {
        switch machine.callee(callee, arguments) {
        case (.plain(let function), _): function(arguments)
        case (.map, _): map(arguments)
        case (nil, let value): value
        }
    }

    private func map(_ arguments: [Value]) -> Value {
        guard let (list, closure) = mapped(arguments) else { return mismatch }
        var values: [Value] = []
        values.reserveCapacity(list.count)
        for element in list {
            if machine.begins(element) {
                sched_yield()
                machine.observer.suspended()
            }
            values.append(eval(closure.body, machine.application(closure, element)))
            machine.observer.hasValue(element)
        }
        return listed(values)
    }
}
