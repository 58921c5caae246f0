/// Builders in the manner of Ply: what a block gives is a struct that is a value or a task, and costs nothing where the value
/// is there. Binds are inlined; what follows is a closure only where it has to wait.
module Taskscale.Workloads.FSharp.Interp.Own

open System.Runtime.CompilerServices
open System.Threading.Tasks

/// A value, or the task that gives it. It is done where there is no task.
[<Struct; NoEquality; NoComparison>]
type Step<'T> =
    { Value: 'T
      Task: Task<'T> | null }

    member inline this.IsDone = isNull this.Task

let inline finished (value: 'T) : Step<'T> = { Value = value; Task = null }
let inline waiting (task: Task<'T>) : Step<'T> = { Value = Unchecked.defaultof<'T>; Task = task }

/// What follows a task.
let later (first: Task<'T>) (next: 'T -> Step<'U>) : Step<'U> =
    waiting (
        task {
            let! value = first
            let step = next value
            if step.IsDone then return step.Value else return! nonNull step.Task
        }
    )

let inline bind (step: Step<'T>) ([<InlineIfLambda>] next: 'T -> Step<'U>) =
    if step.IsDone then next step.Value else later (nonNull step.Task) next

let rec private repeated (again: unit -> bool) (body: unit -> Step<unit>) : Step<unit> =
    if again () then
        let step = body ()
        if step.IsDone then repeated again body else later (nonNull step.Task) (fun () -> repeated again body)
    else
        finished ()

let toValueTask (step: Step<'T>) : ValueTask<'T> =
    if step.IsDone then ValueTask<'T> step.Value else ValueTask<'T>(nonNull step.Task)

/// Runs a block as an async method of C# runs: what it changes of the execution context ends with it.
[<Struct; NoEquality; NoComparison>]
type Bubble<'T> =
    val mutable Step: Step<'T>
    val Body: unit -> Step<'T>
    new(body) = { Step = Unchecked.defaultof<_>; Body = body }

    interface IAsyncStateMachine with
        member this.MoveNext() = this.Step <- this.Body()
        member _.SetStateMachine _ = ()

let inBubble (body: unit -> Step<'T>) : ValueTask<'T> =
    let mutable builder = AsyncValueTaskMethodBuilder<'T>.Create()
    let mutable bubble = Bubble body
    builder.Start(&bubble)
    toValueTask bubble.Step

[<AbstractClass>]
type StepBuilder() =
    member inline _.Return(value: 'T) = finished value
    member inline _.Zero() = finished ()
    member inline _.Delay([<InlineIfLambda>] body: unit -> Step<'T>) = body
    member inline _.Combine(first: Step<unit>, [<InlineIfLambda>] next: unit -> Step<'T>) = bind first next
    member _.While(again: unit -> bool, body: unit -> Step<unit>) = repeated again body

    member inline _.Bind(first: Step<'T>, [<InlineIfLambda>] next: 'T -> Step<'U>) = bind first next
    member inline _.ReturnFrom(step: Step<'T>) = step

    member inline _.Bind(first: ValueTask<'T>, [<InlineIfLambda>] next: 'T -> Step<'U>) =
        if first.IsCompletedSuccessfully then next first.Result else later (first.AsTask()) next

    member inline _.ReturnFrom(result: ValueTask<'T>) =
        if result.IsCompletedSuccessfully then finished result.Result else waiting (result.AsTask())

    member inline _.Bind(first: Task<'T>, [<InlineIfLambda>] next: 'T -> Step<'U>) =
        if first.IsCompletedSuccessfully then next first.Result else later first next

/// Gives a step.
type OwnPly() =
    inherit StepBuilder()
    member inline _.Run([<InlineIfLambda>] body: unit -> Step<'T>) = body ()

/// Gives a `ValueTask`.
type OwnValueTask() =
    inherit StepBuilder()
    member inline _.Run([<InlineIfLambda>] body: unit -> Step<'T>) = toValueTask (body ())

/// Gives a `ValueTask`, inside an execution bubble.
type OwnBubble() =
    inherit StepBuilder()
    member inline _.Run(body: unit -> Step<'T>) = inBubble body

let ownPly = OwnPly()
let ownValueTask = OwnValueTask()
let ownBubble = OwnBubble()
