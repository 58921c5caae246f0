/// The encodings of F#, in the order of the tables.
module Taskscale.Workloads.FSharp.Interp.Ways

open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Requests
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

let lookups = [| "by_name"; "prelinked"; "article" |]

type SyncWay() =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = Sync.Evaluator(asked.Every, observe)
        request asked (fun node -> ValueTask<Value>(machine.Eval(node, Empty)))

type TaskWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = NativeTask.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> ValueTask<Value>(machine.Eval(node, Empty)))

type AsyncWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = FSharpAsync.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> ValueTask<Value>(Async.StartImmediateAsTask(machine.Eval(node, Empty))))

type HiddenWay() =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = HiddenChain.Evaluator(asked.Every, observe)

        request asked (fun node ->
            match machine.Eval(node, Empty) with
            | Pending _ as result -> machine.Awaited result
            | value -> ValueTask<Value> value)

type UnionWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = UnionBlocks.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> ValueTask<Value>(Unions.toTask (machine.Eval(node, Empty))))

type CombinatorsWay() =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = CombinatorsChain.Evaluator(asked.Every, observe)
        request asked (fun node -> machine.Awaited(machine.Eval(node, Empty)))

type InlinedWay() =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = InlinedChain.Evaluator(asked.Every, observe)
        request asked (fun node -> machine.Awaited(machine.Eval(node, Empty)))

type StructWay() =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = StructChain.Evaluator(asked.Every, observe)
        request asked (fun node -> machine.Awaited(machine.Eval(node, Empty)))

type OwnPlyWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = OwnPlyBlocks.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> Own.toValueTask (machine.Eval(node, Empty)))

type OwnBubbleWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = OwnBubbleBlocks.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> machine.Eval(node, Empty))

type OwnValueTaskWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = OwnValueTaskBlocks.Evaluator(asked.Every, observe, syncCaller)
        request asked (fun node -> machine.Eval(node, Empty))

let all: Way list =
    [ SyncWay(Name = "sync", Note = "plain recursion; an element that suspends calls Thread.Yield") ]
    @ both "async" "task {} at every node" (fun caller name note -> TaskWay(caller, Name = name, Note = note))
    @ both "fsharp_async" "async {} at every node" (fun caller name note -> AsyncWay(caller, Name = name, Note = note))
    @ [ HiddenWay(Name = "hidden", Note = "a value may be a pending one: a task") ]
    @ both "union" "a union of value and task, by a builder that delays and runs each block" (fun caller name note ->
        UnionWay(caller, Name = name, Note = note))
    @ [ CombinatorsWay(Name = "union/combinators", Note = "the union; what follows is a function that is called")
        InlinedWay(Name = "union/inlined", Note = "the union; what follows is written out at each use")
        StructWay(Name = "struct/union", Note = "as union/inlined; the union is a struct") ]
    @ both "own/vtask" "a builder that gives ValueTasks, each in an execution bubble" (fun caller name note ->
        OwnBubbleWay(caller, Name = name, Note = note))
    @ both "own/uvtask" "the same without execution bubble" (fun caller name note ->
        OwnValueTaskWay(caller, Name = name, Note = note))
    @ both "own/uply" "the same that gives a struct of value and task" (fun caller name note ->
        OwnPlyWay(caller, Name = name, Note = note))
    @ PlyWays.all
