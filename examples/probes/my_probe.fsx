// A probe of your own. `taskscale probe check my_probe.fsx` tests it, `taskscale run --probe my_probe.fsx` weighs it.
// It is compiled, as a program is. A package of NuGet is named as in a script: #r "nuget: NAME, VERSION"
open System.Runtime.CompilerServices
open System.Threading.Tasks
open Taskscale

// Not inlined, or the compiler may leave out what you want to weigh. Put your own code here.
[<MethodImpl(MethodImplOptions.NoInlining)>]
let work (i: int) = 31L * int64 i

// `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
Probe.Param("fanout", "order", "ordered", "how results are collected", "ordered")

// One call for each way of doing it that you want to compare: change the name, and the code that is timed. What is
// declared with `VariantAsync` begins inside the thread pool, with `Variant` and `run.Time` on the main thread.
Probe.VariantAsync(
    "fanout",
    "mine",
    fun run ->
        run.TimeAsync(fun phases ->
            task {
                // Your tasks, `run.Size` of them. The tool knows the right sum of these: keep it.
                let tasks = Array.init run.Size (fun i -> Task.Run<int64>(fun () -> task { return work i }))
                phases.Created() // the last task is started; leave it out if you cannot say
                let! results = Task.WhenAll tasks
                return Array.sum results
            })
) // .CreatesTask(false) says that a unit is no task that the scheduler sees
|> ignore

Probe.Serve("mine", "1.0") // your library's name and version
