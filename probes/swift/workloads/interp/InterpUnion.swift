// `union`: a result is a value or a pending one, and what follows is chained only where it is pending.

/// A value that is there, or what gives it, to be awaited once.
enum Outcome: Sendable {
    case ready(Value)
    case pending(@Sendable () async -> Value)
}

protocol UnionEncoding: Sendable {
    associatedtype O: Observer
    var machine: Machine<O> { get }
    func map(_ arguments: [Value]) -> Outcome
}

struct EitherUnion<O: Observer>: UnionEncoding {
    let machine: Machine<O>
    func map(_ arguments: [Value]) -> Outcome { inTurn(arguments) }
}

extension UnionEncoding {
    // Not inlined into the closures of its callers, of which it makes more: Swift's optimizer would not come to an end.
    @inline(never)
    func eval(_ node: Node, _ env: Env) -> Outcome {
        machine.observer.entered()
        let outcome = value(node, env)
        guard O.counts else { return outcome }
        return then(outcome) { value in
            machine.observer.left()
            return .ready(value)
        }
    }

    /// The value of an outcome, awaited where it is pending.
    @inline(never)
    func value(of outcome: Outcome) async -> Value {
        switch outcome {
        case .ready(let value): return value
        case .pending(let work):
            machine.observer.taken()
            return await work()
        }
    }

    /// What `next` makes of the value of `first`: at once, or when it is there.
    @inline(__always)
    private func then(_ first: Outcome, _ next: @escaping @Sendable (Value) -> Outcome) -> Outcome {
        if case .ready(let value) = first { return next(value) }
        return later { await value(of: next(await value(of: first))) }
    }

    @inline(__always)
    private func later(_ work: @escaping @Sendable () async -> Value) -> Outcome {
        machine.observer.made()
        return .pending(work)
    }

    private func value(_ node: Node, _ env: Env) -> Outcome {
        switch node {
        case .literal(let value): return .ready(value)
        case .variable(let name): return .ready(find(env, name))
        case .binary(let function, let left, let right):
            return then(eval(left, env)) { left in then(eval(right, env)) { call(function, [left, $0]) } }
        case .choice(let condition, let then, let otherwise):
            return self.then(eval(condition, env)) { condition in
                let (chosen, value) = branch(condition, then, otherwise)
                if let chosen { return eval(chosen, env) }
                return .ready(value)
            }
        case .call(let function, let nodes): return arguments(function, nodes, env)
        case .bind(let name, let value, let body):
            return then(eval(value, env)) { eval(body, machine.bind(env, name, $0)) }
        case .lambda(let params, let body): return .ready(.lambda(Closure(env, params, body)))
        }
    }

    private func arguments(_ function: Callee, _ nodes: [Node], _ env: Env) -> Outcome {
        var values: [Value] = []
        values.reserveCapacity(nodes.count)
        for (index, node) in nodes.enumerated() {
            let outcome = eval(node, env)
            guard case .ready(let value) = outcome else {
                let before = values
                return later {
                    var values = before
                    values.append(await value(of: outcome))
                    for node in nodes[(index + 1)...] { values.append(await value(of: eval(node, env))) }
                    return await value(of: call(function, values))
                }
            }
            values.append(value)
        }
        return call(function, values)
    }

    @inline(never)
    private func call(_ callee: Callee, _ arguments: [Value]) -> Outcome {
        switch machine.callee(callee, arguments) {
        case (.plain(let function), _): .ready(function(arguments))
        case (.map, _): map(arguments)
        case (nil, let value): .ready(value)
        }
    }

    /// `List::map`. An element begins when the one before it has its value.
    func inTurn(_ arguments: [Value]) -> Outcome {
        guard let (list, closure) = mapped(arguments) else { return .ready(mismatch) }
        var values: [Value] = []
        values.reserveCapacity(list.count)
        for (index, element) in list.enumerated() {
            let outcome = apply(closure, element)
            guard case .ready(let value) = outcome else {
                let before = values
                return later {
                    var values = before
                    values.append(await value(of: outcome))
                    for element in list[(index + 1)...] { values.append(await value(of: apply(closure, element))) }
                    return listed(values)
                }
            }
            values.append(value)
        }
        return .ready(listed(values))
    }

    @inline(never)
    func apply(_ closure: Closure, _ element: Value) -> Outcome {
        let outcome = machine.begins(element) ? paused(closure, element) : body(closure, element)
        guard O.counts else { return outcome }
        return then(outcome) { value in
            machine.observer.hasValue(element)
            return .ready(value)
        }
    }

    func body(_ closure: Closure, _ element: Value) -> Outcome { eval(closure.body, machine.application(closure, element)) }

    private func paused(_ closure: Closure, _ element: Value) -> Outcome {
        later {
            await Task.yield()
            machine.observer.suspended()
            return await value(of: body(closure, element))
        }
    }
}
