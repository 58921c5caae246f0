// What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`).

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

let protocolNumber: UInt64 = 1

public typealias Perform = @Sendable (Run) async throws -> Timing

struct Param {
    var name: String, byDefault: Json, help: String, choices: [Json]
}

struct Variant {
    var name: String, only: [String: [Json]], maxSize: Int?, unavailable: Unavailable?, fields: Json, perform: Perform
}

/// Why a variant is not to be had in this toolchain, and what to do about it.
public struct Unavailable: Sendable {
    var reason: String, remedy: String

    public init(reason: String, remedy: String) {
        (self.reason, self.remedy) = (reason, remedy)
    }
}

struct Workload {
    var name: String, params: [Param] = [], variants: [Variant] = []
}

/// What `param` and `variant` declared. Written before `serve`, by one thread, and only read from then on.
nonisolated(unsafe) var workloads: [Workload] = []

/// Declares a parameter of a workload; the type of its default is its type, and a word is one of `choices`.
public func param(_ workload: String, _ name: String, _ byDefault: Json, help: String, choices: [Json] = []) {
    declare(workload) { $0.params.append(Param(name: name, byDefault: byDefault, help: help, choices: choices)) }
}

/// Declares a way of doing a workload: `perform` takes a run and returns what `run.time` gave. `createsTask` says
/// whether each unit is a task that the scheduler sees.
public func variant(
    _ workload: String, _ name: String, createsTask: Bool = true, only: [String: [Json]] = [:], maxSize: Int? = nil,
    unavailable: Unavailable? = nil, note: String? = nil, perform: @escaping Perform
) {
    var fields: [String: Json] = ["name": .text(name), "creates_task": .flag(createsTask)]
    fields["only"] = only.isEmpty ? nil : .object(only.mapValues(Json.list))
    fields["max_size"] = maxSize.map { .integer(UInt64($0)) }
    fields["unavailable"] = unavailable.map { ["reason": .text($0.reason), "remedy": .text($0.remedy)] }
    fields["note"] = note.map(Json.text)
    let one = Variant(
        name: name, only: only, maxSize: maxSize, unavailable: unavailable, fields: .object(fields), perform: perform)
    declare(workload) { $0.variants.append(one) }
}

/// The reply to `describe`. Measures the clocks' resolution, which takes a few milliseconds.
func description(_ name: String, _ version: String) -> Json {
    [
        "type": "description",
        "protocol": .integer(protocolNumber),
        "runtime": [
            "name": .text(name), "language": "swift", "version": .text(version), "toolchain": .text(swiftcVersion),
        ],
        "clock": [
            "wall_resolution_ns": .integer(resolutionNs(wallNs)), "cpu_resolution_ns": .integer(resolutionNs(cpuNs)),
        ],
        "workers": .integer(UInt64(workers())),
        "workloads": .list(
            workloads.map { workload in
                [
                    "name": .text(workload.name),
                    "params": .list(
                        workload.params.map {
                            [
                                "name": .text($0.name), "default": $0.byDefault, "help": .text($0.help),
                                "choices": .list($0.choices),
                            ]
                        }),
                    "variants": .list(workload.variants.map(\.fields)),
                ]
            }),
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

private func declare(_ workload: String, _ change: (inout Workload) -> Void) {
    let index = workloads.firstIndex { $0.name == workload } ?? workloads.count
    if index == workloads.count { workloads.append(Workload(name: workload)) }
    change(&workloads[index])
}
