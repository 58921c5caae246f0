// `interp`: its semantics in every encoding, what an instrumented run counts, and mistakes that it must show. What is right
// is written here a second time; the tool has it a third time, and judges by that.

@testable import TaskscaleProbe

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

let encodings: [(String, Encoding)] = [
    ("sync", sync), ("async", everywhereAsync), ("async/sync_caller", syncCaller), ("task", everyTask), ("union", eitherUnion),
]

struct Differs: Error, CustomStringConvertible { let description: String }

func same<T: Equatable>(_ got: T, _ right: T, _ what: String) throws {
    if got != right { throw Differs(description: "\(what): \(got), right is \(right)") }
}

nonisolated(unsafe) var failures = 0

func test(_ name: String, _ work: () async throws -> Void) async {
    do {
        try await work()
        print("ok: \(name)")
    } catch {
        failures += 1
        print("FAILED: \(name): \(error)")
    }
}

func asked(_ params: [String: Json], verify: Bool = true, size: Int = 3) -> Run {
    let usual: [String: Json] = [
        "lookup": "by_name", "pause": 0, "depth": 0, "workers": 0, "mode": "inproc", "rate": 50,
    ]
    return Run(
        wantsPhases: false, id: 1, size: size, seed: 1, verify: verify, params: usual.merging(params) { $1 }, iterations: 2)
}

/// What six requests count.
func right(_ pause: UInt64) -> [String: Json] {
    [
        "nodes": .integer(6 * 1804), "builtins": .integer(6 * 603), "applications": 600, "extensions": 606, "deepest": 8,
        "order": 2_153_812_598_003_189_471, "output": 5_476_290_587_449_551_085, "suspended": .integer(6 * pause),
        "consumed_twice": 0,
    ]
}

func counted(_ encoding: Encoding, _ params: [String: Json], verify: Bool = true) async throws -> [String: Json] {
    let timing = try await perform(asked(params, verify: verify), encoding)
    try same(timing.answer, 6, "\(params)")
    return timing.extra
}

/// In what the counts of an encoding differ from the right ones. Its output is right, which is why that is not enough.
func differing(_ encoding: Encoding) async throws -> [String: Json] {
    try await counted(encoding, ["pause": 6]).filter { right(6)[$0.key] != $0.value }
}

if ProcessInfo.processInfo.environment[asProbe] != nil { await serveAsProbe() }

await test("the program and its output are those of all languages") {
    // FNV-1a, as Swift's Foundation has no SHA-256 outside of Apple's systems.
    try same(sharedProgram.utf8.count, 428, "program")
    try same([rightOutput().count], [614], "output")
    try same(fnv1a(rightOutput()), 5_476_290_587_449_551_085, "output")
    // Taken out of the repository there is no other program to agree with.
    if let shared = try? String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8) {
        try same(sharedProgram, shared.trimmingCharacters(in: .whitespacesAndNewlines), "program.json")
    }
}

await test("every encoding counts what is right, and a timed run counts nothing") {
    for (name, encoding) in encodings {
        for pause: UInt64 in [0, 6, 100] {
            for lookup: Json in ["by_name", "prelinked"] {
                let params: [String: Json] = ["pause": .integer(pause), "lookup": lookup]
                try same(await counted(encoding, params), right(pause), "\(name) \(params)")
                try same(await counted(encoding, params, verify: false), [:], "\(name) \(params), timed")
            }
        }
    }
}

await test("requests are divided among workers") {
    for (name, encoding) in encodings {
        var extra = try await counted(encoding, ["workers": 2, "pause": 6])
        try same(extra.removeValue(forKey: "worker_requests"), [4, 2], name)
        try same(extra.removeValue(forKey: "worker_wall_ns")?.list.count, 2, name)
        try same(extra, right(6), name)
    }
    try same(await counted(sync, ["workers": 5])["worker_requests"], [2, 2, 2, 0, 0], "five")
}

await test("nested lets are as deep as asked for") {
    let nested: [String: Json] = [
        "nodes": 606, "builtins": 0, "applications": 0, "extensions": 300, "deepest": 51,
        "order": .integer(fnv1a([])), "output": .integer(fnv1a(Array("1".utf8))),
    ]
    for (name, encoding) in encodings {
        try same(await counted(encoding, ["depth": 50]), right(0).merging(nested) { $1 }, name)
    }
}

await test("other numbers of pauses and too many workers are refused") {
    for (params, said): ([String: Json], String) in [
        (["pause": 7], "pause is 7; give 0, 6 or 100"), (["workers": 1001], "workers is 1001; give at most 1000"),
    ] {
        do {
            _ = try await counted(sync, params)
            throw Differs(description: "\(params) were taken")
        } catch let refused as Refused {
            try same(refused.description, said, "\(params)")
        }
    }
}

/// The output of a program in which every element of a list suspends, or what is said of it.
func output(_ encoding: Encoding, _ text: String) async throws -> String {
    nonisolated(unsafe) var said = ""
    _ = await encoding(1, try program(text, linked: false), nil)(1) { value in
        var bytes: [UInt8] = []
        let nothing = value.write(into: &bytes)
        said = nothing ?? String(decoding: bytes, as: UTF8.self)
        return 1
    }
    return said
}

func each(_ body: String) -> String {
    #"["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],\#(body)]]]"#
}
let ones = each(#"["int",1]"#)
let semantics: [(String, String)] = [
    (#"["bin","Int::%",["int",7],["int",0]]"#, "0"),
    (#"["var","a"]"#, "no variable a"),
    (#"["call","Int::none",[]]"#, "no function Int::none"),
    // The error of an argument is the call's, whether the function is there or not.
    (#"["call","Int::none",[["var","a"]]]"#, "no variable a"),
    (#"["if",["int",1],["int",2],["int",3]]"#, "a condition must be a boolean"),
    (#"["lambda",["i"],["int",1]]"#, "a lambda"),
    // A binding alters no environment: the inner `a` is gone behind its body.
    (#"["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]"#, "1"),
    // A lambda has the environment in which it was written.
    (
        #"["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],"#
            + #"["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]"#, "[5,5]"
    ),
    (each(#"["var","i"]"#), "[1,2,3]"),
    // The first error of a list is the map's.
    (each(#"["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]"#), "no variable c"),
    (each(each(#"["bin","Int::%",["var","i"],["int",2]]"#)), "[[1,0,1],[1,0,1],[1,0,1]]"),
    (#"["bin","Int::%",["var","a"],["int",1]]"#, "no variable a"),
    (#"["bin","Int::%",["int",1],["var","a"]]"#, "no variable a"),
    // What suspends may stand in every place.
    (#"["let","a",\#(ones),["var","a"]]"#, "[1,1,1]"),
    (#"["let","a",\#(ones),\#(each(#"["var","a"]"#))]"#, "[[1,1,1],[1,1,1],[1,1,1]]"),
    (#"["call","List::map",[\#(ones),["lambda",["i"],["int",2]]]]"#, "[2,2,2]"),
    (#"["bin","Int::%",\#(ones),["int",2]]"#, "Int::% needs two integers"),
    (#"["bin","Int::%",["int",2],\#(ones)]"#, "Int::% needs two integers"),
    (#"["if",\#(ones),["int",1],["int",2]]"#, "a condition must be a boolean"),
]

await test("semantics are the same in every encoding") {
    for (name, encoding) in encodings {
        for (text, right) in semantics { try same(await output(encoding, text), right, "\(name) \(text)") }
    }
}

/// `List::map` begins two elements before it has the value of either.
struct TwoAtATime: AsyncEncoding {
    let machine: Machine<Counting>
    static var callsPlainly: Bool { true }
    func eval(_ node: Node, _ env: Env) async -> Value { await value(node, env) }

    func map(_ arguments: [Value]) async -> Value {
        guard let (list, closure) = mapped(arguments) else { return mismatch }
        var values: [Value] = []
        for index in stride(from: 0, to: list.count, by: 2) {
            let both = list[index...(index + 1)]
            for element in both where machine.begins(element) {
                await Task.yield()
                machine.observer.suspended()
            }
            for element in both {
                values.append(await eval(closure.body, machine.application(closure, element)))
                machine.observer.hasValue(element)
            }
        }
        return listed(values)
    }
}

/// `List::map` drops what is pending, and evaluates the body without it.
struct Swallowed: UnionEncoding {
    let machine: Machine<Counting>

    func map(_ arguments: [Value]) -> Outcome {
        guard let (list, closure) = mapped(arguments) else { return .ready(mismatch) }
        return .ready(
            listed(
                list.map { element in
                    if case .ready(let value) = apply(closure, element) { return value }
                    guard case .ready(let value) = body(closure, element) else { return mismatch }
                    return value
                }))
    }
}

/// `List::map` uses the result of element 30 twice.
struct UsedTwice: UnionEncoding {
    let machine: Machine<Counting>

    func map(_ arguments: [Value]) -> Outcome {
        guard let (list, closure) = mapped(arguments) else { return .ready(mismatch) }
        machine.observer.made()
        return .pending {
            var values: [Value] = []
            for (index, element) in list.enumerated() {
                let outcome = apply(closure, element)
                values.append(await value(of: outcome))
                if index == 29 { _ = await value(of: outcome) }
            }
            return listed(values)
        }
    }
}

await test("two elements at a time are seen in the order") {
    let differ = try await differing { loop(TwoAtATime(machine: Machine(every: $0, observer: $2!)), $1) }
    try same(Array(differ.keys), ["order"], "\(differ)")
}

await test("a swallowed pending value is seen") {
    let differ = try await differing { loop(Swallowed(machine: Machine(every: $0, observer: $2!)), $1) }
    try same(differ["suspended"], 0, "suspended")
    // What suspends, and what is logged when it is there: two for each pause.
    try same(differ["consumed_twice"], .integer(6 * 6 * 2), "consumed_twice")
    try same(differ["order"] != nil, true, "\(differ)")
}

await test("what is set up untimed is made anew and told beside") {
    var run = asked([:])
    run.iterations = 3
    var (made, ended): (UInt64, UInt64) = (0, 0)
    let setup = { () -> UInt64 in
        usleep(3_000)
        made += 10
        return made
    }
    let timing = await run.timeEach(setup, { _, made in made }, teardown: { ended += $0 })
    try same([timing.answer, ended], [60, 60], "answer and ended")
    guard case .integer(let wall)? = timing.extra["setup_wall_ns"], wall >= 9_000_000 else {
        throw Differs(description: "\(timing.extra)")
    }
}

await test("every token comes back") {
    declarePingpong()
    for name in ["AsyncStream", "continuation", "actor"] {
        // 3 trips do not divide evenly by 2; of 5 pairs some have none.
        for pairs: UInt64 in [1, 2, 5] {
            let asked = asked(["pairs": .integer(pairs)], verify: false)
            let timing = try await performs[["pingpong", .text(name)]]!(asked)
            try same(timing.answer, 6, "\(name), \(pairs)")
        }
    }
}
await test("every task from outside runs") {
    declareRemote()
    for name in ["Task.detached", "Task", "Task.detached/local", "DispatchQueue.async"] {
        let perform = performs[["remote", .text(name)]]!
        // 3 tasks do not divide evenly by 2; of 64 producers most have none.
        for producers: UInt64 in [1, 2, 64] {
            let timing = try await perform(asked(["producers": .integer(producers)], verify: false))
            try same(timing.answer, 6, "\(name), \(producers)")
        }
        do {
            _ = try await perform(asked(["producers": .integer(65)], verify: false))
            throw Differs(description: "65 producers are not refused")
        } catch let refused as Refused {
            try same("\(refused)", "producers is 65; give 1 to 64", name)
        }
    }
}
await test("each task has its own values") {
    declareContext()
    for name in ["TaskLocal", "TaskLocal/async_let", "TaskLocal/Task"] {
        let perform = performs[["context", .text(name)]]!
        for variables: UInt64 in [0, 1, 8] {
            let timing = try await perform(asked(["variables": .integer(variables)], verify: false))
            try same(timing.answer, 6, "\(name), \(variables)")
        }
        do {
            _ = try await perform(asked(["variables": .integer(3)], verify: false))
            throw Differs(description: "three variables are not refused")
        } catch let refused as Refused {
            try same("\(refused)", "variables is 3; give 0, 1 or 8", name)
        }
    }
}
await test("every task arrives at its time") {
    declareIdle()
    for name in ["Task.sleep/Task", "Task.sleep/addTask", "outside/Task"] {
        let perform = performs[["idle", .text(name)]]!
        for (rate, size) in [(1_000, 20), (100, 20), (10, 100)] as [(UInt64, Int)] {
            let timing = try await perform(asked(["rate": .integer(rate)], verify: false, size: size))
            try same(timing.answer, 2 * UInt64(size), "\(name), \(rate)")
            try same(timing.wallNs >= 2_000_000 * UInt64(size), true, "\(name), \(rate): \(timing)")
        }
        for (rate, said) in [
            (50, "rate is 50; give 1, 10, 100 or 1000"), (100, "in 3 ms no whole number of tasks arrives at 100 a second"),
        ] as [(UInt64, String)] {
            do {
                _ = try await perform(asked(["rate": .integer(rate)], verify: false))
                throw Differs(description: "a rate of \(rate) is not refused")
            } catch let refused as Refused {
                try same("\(refused)", said, name)
            }
        }
    }
}
await test("a result that is used twice is seen") {
    let differ = try await differing { loop(UsedTwice(machine: Machine(every: $0, observer: $2!)), $1) }
    try same((differ["consumed_twice"] ?? 0) != 0, true, "\(differ)")
}

await test("a wrong output says where") {
    try same(
        difference(Array("[1,2,3]".utf8), Array("[1,3]".utf8)),
        #"a request's output differs from byte 3 on: "2,3]", right is "3]" (7 bytes, right are 5)"#, "said")
}

await test("every call of blocking blocks, and waits are told") {
    let calls: [(Call, UInt64)] = [(.without, 0), (.inline, 6), (.queue, 6), (.thread, 6), (.sleep, 6)]
    for (call, right) in calls {
        let run = Run(
            wantsPhases: false, id: 1, size: 9, seed: 1, verify: false, params: ["block_us": 2_000, "every": 4], iterations: 2)
        let timing = try await blocking(run, call)
        try same(timing.answer, 18, "\(call)")
        try same(timing.extra["blocked"], .integer(right), "\(call)")
        let told = try ["p50", "p99", "max"].map { name in
            guard case .integer(let ns) = timing.extra["wait_\(name)_ns"] else { throw Differs(description: name) }
            return ns
        }
        try same(told[0] > 0 && told == told.sorted(), true, "\(told)")
        // Each iteration lasts at least as long as one call.
        try same(right == 0 || timing.wallNs >= 2 * 2_000_000, true, "\(timing)")
    }
}

await test("all that wait are cancelled") {
    for on in ["event", "timer"] {
        for first in ["oldest", "newest"] {
            let params: [String: Json] = ["on": .text(on), "first": .text(first)]
            try same(try await cancelLoose(asked(params)).answer, 6, "tasks, \(on), \(first)")
            try same(try await cancelGroup(asked(params)).answer, 6, "group, \(on)")
        }
    }
}

await httpTests()

await bytesTests()

exit(failures == 0 ? 0 : 1)
