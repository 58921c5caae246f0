/// The rows of Ply.
module Taskscale.Workloads.FSharp.Interp.PlyWays

open System.Threading.Tasks
open FSharp.Control.Tasks.Affine.Unsafe
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

type TaskWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = PlyTask.Evaluator(asked.Every, observe, syncCaller)
        Requests.request asked (fun node -> ValueTask<Value>(machine.Eval(node, Empty)))

type BubbleWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = PlyBubble.Evaluator(asked.Every, observe, syncCaller)
        Requests.request asked (fun node -> machine.Eval(node, Empty))

type ValueTaskWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = PlyValueTask.Evaluator(asked.Every, observe, syncCaller)
        Requests.request asked (fun node -> machine.Eval(node, Empty))

type PlyWay(syncCaller) =
    inherit Way()

    override _.Make(asked, observe) =
        let machine = PlyPly.Evaluator(asked.Every, observe, syncCaller)
        Requests.request asked (fun node -> uvtask { return! machine.Eval(node, Empty) })

let all: Way list =
    Requests.both "ply/task" "task of Ply at every node" (fun caller name note -> TaskWay(caller, Name = name, Note = note))
    @ Requests.both "vtask" "vtask of Ply: a ValueTask in an execution bubble" (fun caller name note ->
        BubbleWay(caller, Name = name, Note = note))
    @ Requests.both "uvtask" "uvtask of Ply: a ValueTask without execution bubble" (fun caller name note ->
        ValueTaskWay(caller, Name = name, Note = note))
    @ Requests.both "uply" "uply of Ply: a struct of value and awaitable" (fun caller name note ->
        PlyWay(caller, Name = name, Note = note))
