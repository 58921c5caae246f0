// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

let protocolNumber: UInt64 = 1

/// Does the work of a request. What it throws is what the reply says failed.
public typealias Perform = @Sendable (Run) async throws -> Timing

struct Workload {
    var name: String, params: [Json] = [], variants: [Json] = []
}

/// What `param` and `variant` declared, in that order and as the description says it. Written before `serve`, by one thread,
/// and only read from then on.
nonisolated(unsafe) var workloads: [Workload] = []

/// How each variant is performed, by the names of its workload and its own. As above.
nonisolated(unsafe) var performs: [[Json]: Perform] = [:]

/// Declares a parameter of a workload; the type of its default is its type, and a word is one of `choices`.
public func param(_ workload: String, _ name: String, _ byDefault: Json, help: String, choices: [Json] = []) {
    let made: Json = ["name": .text(name), "default": byDefault, "help": .text(help), "choices": .list(choices)]
    declare(workload) { $0.params.append(made) }
}

/// Why a variant is not to be had in this toolchain, and what to do about it.
public struct Unavailable: Sendable {
    var reason: String, remedy: String

    public init(reason: String, remedy: String) { (self.reason, self.remedy) = (reason, remedy) }
}

/// Declares a way of doing a workload: `perform` takes a run and returns what `run.time` gave. `createsTask` says
/// whether each unit is a task that the scheduler sees.
public func variant(
    _ workload: String, _ name: String, createsTask: Bool = true, only: [String: [Json]] = [:], maxSize: Int? = nil,
    unavailable: Unavailable? = nil, note: String? = nil, perform: @escaping Perform
) {
    var made: [String: Json] = ["name": .text(name), "creates_task": .flag(createsTask)]
    made["only"] = .object(only.mapValues(Json.list))
    made["max_size"] = maxSize.map { .integer(UInt64($0)) }
    made["unavailable"] = unavailable.map { ["reason": .text($0.reason), "remedy": .text($0.remedy)] }
    made["note"] = note.map(Json.text)
    declare(workload) { $0.variants.append(.object(made)) }
    performs[[.text(workload), .text(name)]] = perform
}

/// Changes the workload of that name, which the first that is declared of it makes.
private func declare(_ workload: String, _ change: (inout Workload) -> Void) {
    if !workloads.contains(where: { $0.name == workload }) { workloads.append(Workload(name: workload)) }
    for index in workloads.indices where workloads[index].name == workload { change(&workloads[index]) }
}

/// The reply to `describe`. Measures the clocks' resolution, which takes a few milliseconds.
func description(_ name: String, _ version: String) -> Json {
    let (wall, cpu) = (resolutionNs(wallNs), resolutionNs(cpuNs))
    let all = workloads.map { ["name": .text($0.name), "params": .list($0.params), "variants": .list($0.variants)] as Json }
    let (name, version, toolchain) = (Json.text(name), Json.text(version), Json.text(swiftcVersion))
    return [
        "type": "description", "protocol": .integer(protocolNumber),
        "runtime": ["name": name, "language": "swift", "version": version, "toolchain": toolchain],
        "clock": ["wall_resolution_ns": .integer(wall), "cpu_resolution_ns": .integer(cpu)],
        "workers": .integer(UInt64(workers())), "workloads": .list(all),
    ]
}

/// Threads of the pool that runs tasks: one for each core that this process may use.
public func workers() -> Int {
    // Linux tells which those are only here; Swift does not import the call for it.
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let mask = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }?.dropFirst(13) ?? ""
    let cores = mask.reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    return cores > 0 ? cores : ProcessInfo.processInfo.activeProcessorCount
}
