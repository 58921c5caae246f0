// A library's `concurrentMap`, weighed: as many libraries have it, with loose tasks, and with a task group.
// taskscale run fanout --probe concurrent_map.swift --size 64 --size 2048 --size 17000
import TaskscaleProbe

extension Sequence where Element: Sendable {
    /// Loose tasks, awaited in the order of creation: the results are in order by themselves.
    func concurrentMap<T: Sendable>(_ transform: @escaping @Sendable (Element) async -> T) async -> [T] {
        let tasks = map { element in Task { await transform(element) } }
        var results: [T] = []
        for task in tasks { results.append(await task.value) }
        return results
    }

    /// A task group: cancelled as a whole, and never outlived. Children end in any order, so each tells its place.
    func concurrentMapInGroup<T: Sendable>(_ transform: @escaping @Sendable (Element) async -> T) async -> [T] {
        await withTaskGroup(of: (Int, T).self) { group in
            var results: [T?] = []
            for (index, element) in enumerated() {
                results.append(nil)
                group.addTask { (index, await transform(element)) }
            }
            for await (index, result) in group { results[index] = result }
            return results.compactMap { $0 }
        }
    }
}

@inline(never) func work(_ i: Int) -> UInt64 { 31 * UInt64(i) }

param("fanout", "order", "ordered", help: "how results are collected", choices: ["ordered"])

variant("fanout", "concurrentMap/loose") { run in
    await run.time { _ in await (0..<run.size).concurrentMap { work($0) }.reduce(0, &+) }
}

variant("fanout", "concurrentMap/group") { run in
    await run.time { _ in await (0..<run.size).concurrentMapInGroup { work($0) }.reduce(0, &+) }
}

await serve("concurrentMap", swiftVersion)
