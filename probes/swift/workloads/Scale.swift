// `scale`: `size` tasks that a given number of workers shares.

import TaskscaleProbe

/// The workload `scale`, which this runtime has no way to be asked for.
func declareScale() {
    param("scale", "workers", 1, help: "threads that run tasks")
    param("scale", "work", 0, help: "steps of spin per task; 0: the task gives 31 * i")
    let missing = Unavailable(
        reason: "the cooperative pool has a thread for each CPU, and no call sets their number",
        remedy: "give the process fewer CPUs: taskset -c 0 taskscale run granularity --runtime swift")
    variant("scale", "Task", unavailable: missing) { _ in
        throw Refused("never asked: the tool asks for nothing unavailable")
    }
}
