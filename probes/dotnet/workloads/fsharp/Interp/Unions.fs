/// Results that are there or pending, and what follows one: at once where it is there. A pending one is a task, which
/// is to be awaited once.
module Taskscale.Workloads.FSharp.Interp.Unions

open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp

/// The value of a pending result.
let taken (observe: 'O when 'O :> IObserve) (pending: Task<Value>) =
    task {
        let! value = pending
        observe.Taken()
        return value
    }

/// `hidden`: a value may be a pending one.
module Hidden =
    let inline ready (value: Value) = value
    let inline pending (task: Task<Value>) = Pending task

    let toTask (observe: 'O when 'O :> IObserve) result =
        match result with
        | Pending task -> taken observe task
        | value -> Task.FromResult value

    let later (observe: 'O when 'O :> IObserve) (first: Task<Value>) next =
        observe.Made()

        pending (
            task {
                let! value = taken observe first
                return! toTask observe (next value)
            }
        )

    let inline bind (observe: 'O when 'O :> IObserve) result ([<InlineIfLambda>] next: Value -> Value) =
        match result with
        | Pending task -> later observe task next
        | value -> next value

[<NoEquality; NoComparison>]
type Union<'T> =
    | Ready of 'T
    | Later of Task<'T>

/// `union/inlined`: a union, of which what follows is written out at each use.
module Inlined =
    let inline ready value = Ready value
    let inline pending task = Later task

    let toTask (observe: 'O when 'O :> IObserve) result =
        match result with
        | Later task -> taken observe task
        | Ready value -> Task.FromResult value

    let later (observe: 'O when 'O :> IObserve) (first: Task<Value>) next =
        observe.Made()

        pending (
            task {
                let! value = taken observe first
                return! toTask observe (next value)
            }
        )

    let inline bind (observe: 'O when 'O :> IObserve) result ([<InlineIfLambda>] next: Value -> Union<Value>) =
        match result with
        | Ready value -> next value
        | Later task -> later observe task next

/// `union/combinators`: the same union; what follows is a function that is called.
module Combinators =
    let inline ready value = Ready value
    let inline pending task = Later task
    let toTask (observe: 'O when 'O :> IObserve) result = Inlined.toTask observe result

    let bind (observe: 'O when 'O :> IObserve) result next =
        match result with
        | Ready value -> next value
        | Later task -> Inlined.later observe task next

[<Struct; NoEquality; NoComparison>]
type StructUnion =
    | ReadyNow of value: Value
    | ReadyLater of task: Task<Value>

/// `struct/union`: as `union/inlined`; the union is a struct.
module Struct =
    let inline ready value = ReadyNow value
    let inline pending task = ReadyLater task

    let toTask (observe: 'O when 'O :> IObserve) result =
        match result with
        | ReadyLater task -> taken observe task
        | ReadyNow value -> Task.FromResult value

    let later (observe: 'O when 'O :> IObserve) (first: Task<Value>) next =
        observe.Made()

        pending (
            task {
                let! value = taken observe first
                return! toTask observe (next value)
            }
        )

    let inline bind (observe: 'O when 'O :> IObserve) result ([<InlineIfLambda>] next: Value -> StructUnion) =
        match result with
        | ReadyNow value -> next value
        | ReadyLater task -> later observe task next

/// `union`: the union with a builder in the manner of the article, which delays each block and then runs it.
type UnionBuilder() =
    member _.Return(value: 'T) = Ready value
    member _.ReturnFrom(result: Union<'T>) = result
    member _.Zero() = Ready()
    member _.Delay(body: unit -> Union<'T>) = body
    member _.Run(body: unit -> Union<'T>) = body ()

    member _.Bind(result: Union<'T>, next: 'T -> Union<'U>) =
        match result with
        | Ready value -> next value
        | Later first ->
            Later(
                task {
                    let! value = first

                    match next value with
                    | Ready value -> return value
                    | Later task -> return! task
                }
            )

    member this.Bind(first: Task<'T>, next: 'T -> Union<'U>) = this.Bind(Later first, next)
    member this.Combine(first: Union<unit>, next: unit -> Union<'T>) = this.Bind(first, next)

    member this.While(again: unit -> bool, body: unit -> Union<unit>) : Union<unit> =
        if again () then this.Bind(body (), (fun () -> this.While(again, body))) else Ready()

let union = UnionBuilder()

let toTask result =
    match result with
    | Ready value -> Task.FromResult value
    | Later task -> task
