/// What the evaluators share.
module Taskscale.Workloads.FSharp.Interp.Machine

open System
open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

/// An interpreter: which elements suspend, and who watches.
[<AbstractClass>]
type Machine<'O when 'O: struct and 'O :> IObserve and 'O: (new: unit -> 'O) and 'O :> ValueType>
    (every: int64, observe: 'O) =

    member _.Observe = observe

    /// The function of a call.
    member _.Find(callee: Callee, arguments: Value array) =
        let mutable at = 0

        while at < arguments.Length && not arguments[at].IsError do
            at <- at + 1

        if at < arguments.Length then
            Wrong arguments[at]
        else
            observe.Builtin()
            lookUp callee

    /// The environment with one more name.
    member _.Bind(env: Env, name: string, value: Value) =
        observe.Extension()
        Cell(name, value, env)

    /// What the program's `List::map` maps over; else its value, which is an error.
    member _.Mapped(arguments: Value array) =
        match arguments with
        | [| List values; Closure(env, [| name |], body) |] -> Ok struct (values, env, name, body)
        | [| List _; Closure _ |] -> Result.Error(Error "List::map needs a lambda of one parameter")
        | _ -> Result.Error(Error "List::map needs a list and a lambda")

    /// Begins the application to an element. Returns whether it suspends.
    member _.Begins(element: Value) =
        match element with
        | Int number ->
            observe.Begins number
            every <> 0L && number % every = 0L
        | Big number ->
            observe.Begins(int64 number)
            every <> 0L && int64 number % every = 0L
        | _ -> false

    /// Ends the application to an element, which has its value.
    member _.HasValue(element: Value) =
        match element with
        | Int number -> observe.HasValue number
        | Big number -> observe.HasValue(int64 number)
        | _ -> ()

    /// One real yield to the scheduler.
    member _.Pause() : Task<unit> =
        if 'O.Counts then
            task { do! observe.Pause() }
        else
            task { do! Task.Yield() }

/// The value of an `if` without a boolean.
let noBoolean (condition: Value) =
    if condition.IsError then condition else Error "a condition must be a boolean"
