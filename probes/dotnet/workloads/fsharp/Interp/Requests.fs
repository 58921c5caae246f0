/// What the encodings have in common.
module Taskscale.Workloads.FSharp.Interp.Requests

open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

/// Answers requests by what an evaluator makes of a program.
let request (asked: Asked) (eval: Node -> ValueTask<Value>) =
    let program = program asked

    Request(fun into ->
        let value = eval program

        if value.IsCompletedSuccessfully then
            write value.Result into
            ValueTask()
        else
            ValueTask(
                task {
                    let! value = value.AsTask()
                    write value into
                }
                :> Task
            ))

/// An encoding with either caller.
let both name note (make: bool -> string -> string -> Way) =
    [ make false name note
      make true (name + "/sync_caller") (note + "; builtins that cannot suspend are called") ]
