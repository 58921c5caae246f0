// A probe of your own for Swift. Try it: taskscale run --probe my_probe.swift
// What to change: the body of the task; the names; one more `variant` for each further way of doing it.
import TaskscaleProbe

// `@inline(never)`, or the compiler may leave out what you want to weigh. Put your own code here.
@inline(never) func work(_ i: Int) -> UInt64 { 31 * UInt64(i) }

// `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
param("fanout", "order", "ordered", help: "how results are collected", choices: ["ordered"])

variant("fanout", "mine") { run in  // say `createsTask: false` where a unit is no task that the scheduler sees
    // What stands in `run.time` is timed, and repeated as often as the tool wants. It returns the sum of the results.
    await run.time { phases in
        let tasks = (0..<run.size).map { i in Task { work(i) } }
        phases.created()  // all tasks are started: tells the cost of starting from that of waiting; may be left out
        var sum: UInt64 = 0
        for task in tasks { sum += await task.value }
        return sum
    }
}

await serve("mine", "1.0")  // the name in the table, and a version of yours
