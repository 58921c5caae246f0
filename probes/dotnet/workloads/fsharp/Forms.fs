/// The forms of fanout and nop in F#: `task`, which is .NET's Task, and `async`, which is F#'s own.
module Taskscale.Workloads.FSharp.Forms

open System.Threading.Tasks
open Taskscale
open Taskscale.Workloads

/// `Task.Run` of a `task` each, and one `Task.WhenAll`.
type TaskRun() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        let tasks = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()
            tasks[i - from] <- Task.Run<int64>(fun () -> task { return body.Result i })

        phases.Created()
        Task.WhenAll<int64> tasks

    override _.Discard(body, from, upto, phases) =
        let tasks: Task array = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()
            tasks[i - from] <- Task.Run(fun () -> task { body.Discard i } :> Task)

        phases.Created()
        Task.WhenAll tasks

/// A `task` each that yields once, so that it goes through the pool, and one `Task.WhenAll`.
type Yielding() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        let tasks = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()

            tasks[i - from] <-
                task {
                    do! Task.Yield()
                    return body.Result i
                }

        phases.Created()
        Task.WhenAll<int64> tasks

    override _.Discard(body, from, upto, phases) =
        let tasks: Task array = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()

            tasks[i - from] <-
                task {
                    do! Task.Yield()
                    body.Discard i
                }

        phases.Created()
        Task.WhenAll tasks

/// One `Async.Parallel` of an `async` each.
type AsyncParallel() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        Array.init (upto - from) (fun i ->
            body.Created()
            async { return body.Result(from + i) })
        |> Async.Parallel
        |> Async.StartAsTask

    override _.Discard(body, from, upto, phases) =
        Array.init (upto - from) (fun i ->
            body.Created()
            async { body.Discard(from + i) })
        |> Async.Parallel
        |> Async.StartAsTask
        :> Task

/// `Async.StartChild` of an `async` each; the children are awaited in the order of their start.
type StartChild() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        async {
            let children = Array.zeroCreate (upto - from)
            let results = Array.zeroCreate (upto - from)

            for i in from .. upto - 1 do
                body.Created()
                let! child = Async.StartChild(async { return body.Result i })
                children[i - from] <- child

            phases.Created()

            for i in 0 .. children.Length - 1 do
                let! result = children[i]
                results[i] <- result

            return results
        }
        |> Async.StartAsTask

    override _.Discard(body, from, upto, phases) =
        async {
            let children = Array.zeroCreate (upto - from)

            for i in from .. upto - 1 do
                body.Created()
                let! child = Async.StartChild(async { body.Discard i })
                children[i - from] <- child

            phases.Created()

            for child in children do
                do! child
        }
        |> Async.StartAsTask
        :> Task

/// `Async.StartAsTask` of an `async` each, and one `Task.WhenAll`.
type StartAsTask() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        let tasks = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()
            tasks[i - from] <- Async.StartAsTask(async { return body.Result i })

        phases.Created()
        Task.WhenAll<int64> tasks

    override _.Discard(body, from, upto, phases) =
        let tasks: Task array = Array.zeroCreate (upto - from)

        for i in from .. upto - 1 do
            body.Created()
            tasks[i - from] <- Async.StartAsTask(async { body.Discard i })

        phases.Created()
        Task.WhenAll tasks

/// A `task` each that completes at once, awaited before the next: nothing that a scheduler sees.
type Plainly() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        task {
            let results = Array.zeroCreate (upto - from)

            for i in from .. upto - 1 do
                body.Created()
                let! result = task { return body.Result i }
                results[i - from] <- result

            return results
        }

    override _.Discard(body, from, upto, phases) =
        task {
            for i in from .. upto - 1 do
                body.Created()
                do! task { body.Discard i }
        }

/// An `async` each, bound inside another: it runs where the other does.
type Bound() =
    inherit Form()

    override _.Ordered(body, from, upto, phases) =
        async {
            let results = Array.zeroCreate (upto - from)

            for i in from .. upto - 1 do
                body.Created()
                let! result = async { return body.Result i }
                results[i - from] <- result

            return results
        }
        |> Async.StartAsTask

    override _.Discard(body, from, upto, phases) =
        async {
            for i in from .. upto - 1 do
                body.Created()
                do! async { body.Discard i }
        }
        |> Async.StartAsTask
        :> Task

/// In the order of the tables.
let all: Form list =
    [ TaskRun(Name = "task{}/Task.Run", Note = "from the main thread, WhenAll")
      Yielding(Name = "task{}/yield", InPool = true, Note = "yields once, from inside the pool, WhenAll")
      AsyncParallel(Name = "Async.Parallel", Note = "from the main thread")
      StartChild(Name = "Async.StartChild", InPool = true, Note = "awaited in the order of their start")
      StartAsTask(Name = "Async.StartAsTask", Note = "from the main thread, WhenAll")
      Plainly(Name = "no_task/task{}", InPool = true, CreatesTask = false, Note = "completes at once, awaited")
      Bound(Name = "no_task/async{}", InPool = true, CreatesTask = false, Note = "bound inside another, and run by it") ]
