// `async`, `async/sync_caller` and `task`: an async function at every node.

/// How such an encoding differs from the others.
protocol AsyncEncoding: Sendable {
    associatedtype O: Observer
    var machine: Machine<O> { get }
    /// Whether builtins that cannot suspend are called as plain functions.
    static var callsPlainly: Bool { get }
    /// Evaluates a node for its parent.
    func eval(_ node: Node, _ env: Env) async -> Value
    func map(_ arguments: [Value]) async -> Value
}

/// `async`: a builtin is an async function too.
struct EverywhereAsync<O: Observer>: AsyncEncoding {
    let machine: Machine<O>
    @inline(__always) static var callsPlainly: Bool { false }
    @inline(never) func eval(_ node: Node, _ env: Env) async -> Value { await value(node, env) }
    func map(_ arguments: [Value]) async -> Value { await inTurn(arguments) }
}

/// `async/sync_caller`.
struct SyncCaller<O: Observer>: AsyncEncoding {
    let machine: Machine<O>
    @inline(__always) static var callsPlainly: Bool { true }
    @inline(never) func eval(_ node: Node, _ env: Env) async -> Value { await value(node, env) }
    func map(_ arguments: [Value]) async -> Value { await inTurn(arguments) }
}

/// `task`: every node is evaluated in a task of its own, on the pool.
struct EveryTask<O: Observer>: AsyncEncoding {
    let machine: Machine<O>
    @inline(__always) static var callsPlainly: Bool { true }

    @inline(never)
    func eval(_ node: Node, _ env: Env) async -> Value {
        machine.observer.made()
        let value = await Task { await self.value(node, env) }.value
        machine.observer.taken()
        return value
    }

    func map(_ arguments: [Value]) async -> Value { await inTurn(arguments) }
}

extension AsyncEncoding {
    // Inlined into `eval`, which is not inlined: the optimizer would not come to an end.
    @inline(__always)
    func value(_ node: Node, _ env: Env) async -> Value {
        machine.observer.entered()
        defer { machine.observer.left() }
        switch node {
        case .literal(let value): return value
        case .variable(let name): return find(env, name)
        case .binary(let function, let left, let right):
            let left = await eval(left, env)
            return await call(function, [left, await eval(right, env)])
        case .choice(let condition, let then, let otherwise):
            let (chosen, value) = branch(await eval(condition, env), then, otherwise)
            if let chosen { return await eval(chosen, env) }
            return value
        case .call(let function, let nodes):
            var values: [Value] = []
            values.reserveCapacity(nodes.count)
            for node in nodes { values.append(await eval(node, env)) }
            return await call(function, values)
        case .bind(let name, let value, let body):
            return await eval(body, machine.bind(env, name, await eval(value, env)))
        case .lambda(let params, let body): return .lambda(Closure(env, params, body))
        }
    }

    @inline(__always)
    private func call(_ callee: Callee, _ arguments: [Value]) async -> Value {
        switch machine.callee(callee, arguments) {
        case (.plain(let function), _):
            if Self.callsPlainly { return function(arguments) }
            return await builtin(function, arguments)
        case (.map, _): return await map(arguments)
        case (nil, let value): return value
        }
    }

    /// `List::map`. An element begins when the one before it has its value.
    func inTurn(_ arguments: [Value]) async -> Value {
        guard let (list, closure) = mapped(arguments) else { return mismatch }
        var values: [Value] = []
        values.reserveCapacity(list.count)
        for element in list { values.append(await apply(closure, element)) }
        return listed(values)
    }

    @inline(__always)
    func apply(_ closure: Closure, _ element: Value) async -> Value {
        if machine.begins(element) {
            await Task.yield()
            machine.observer.suspended()
        }
        let value = await eval(closure.body, machine.application(closure, element))
        machine.observer.hasValue(element)
        return value
    }
}

/// A builtin as an async function.
@inline(never)
private func builtin(_ function: @Sendable ([Value]) -> Value, _ arguments: [Value]) async -> Value { function(arguments) }
