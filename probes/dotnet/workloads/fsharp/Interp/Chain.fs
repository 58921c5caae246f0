/// An evaluator that chains what follows where a result is pending. This file is compiled once for each kind of result, with
/// the words in capitals replaced (fsharp.fsproj): all have the same source.
module Taskscale.Workloads.FSharp.Interp.MODULE

open System
open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Machine
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.FSharp.Interp.Unions
open Taskscale.Workloads.FSharp.Interp.Unions.KIND
open Taskscale.Workloads.Interp

type Evaluator<'O when 'O: struct and 'O :> IObserve and 'O: (new: unit -> 'O) and 'O :> ValueType>
    (every: int64, observe: 'O) =
    inherit Machine<'O>(every, observe)

    member this.Eval(node: Node, env: Env) : RESULT =
        if 'O.Counts then this.Counted(node, env) else this.Evaluated(node, env)

    member private this.Counted(node: Node, env: Env) : RESULT =
        observe.Enter()

        bind observe (this.Evaluated(node, env)) (fun value ->
            observe.Leave()
            ready value)

    member private this.Evaluated(node: Node, env: Env) : RESULT =
        match node with
        | Literal value -> ready value
        | Var name -> ready (find name env)
        | Bin(callee, left, right) ->
            bind observe (this.Eval(left, env)) (fun left ->
                bind observe (this.Eval(right, env)) (fun right -> this.Called(callee, [| left; right |])))
        | If(condition, yes, no) ->
            bind observe (this.Eval(condition, env)) (fun condition ->
                match condition with
                | Bool true -> this.Eval(yes, env)
                | Bool false -> this.Eval(no, env)
                | other -> ready (noBoolean other))
        | Call(callee, nodes) -> this.Arguments(callee, nodes, env, Array.zeroCreate nodes.Length, 0)
        | Let(name, value, body) ->
            bind observe (this.Eval(value, env)) (fun value -> this.Eval(body, this.Bind(env, name, value)))
        | Lambda(names, body) -> ready (Closure(env, names, body))

    member private this.Arguments(callee, nodes: Node array, env, values: Value array, at) : RESULT =
        if at = nodes.Length then
            this.Called(callee, values)
        else
            bind observe (this.Eval(nodes[at], env)) (fun value ->
                values[at] <- value
                this.Arguments(callee, nodes, env, values, at + 1))

    member private this.Called(callee, arguments) : RESULT =
        match this.Find(callee, arguments) with
        | Plain plain -> ready (plain arguments)
        | Map -> this.Map arguments
        | Wrong error -> ready error

    /// Tests break it.
    abstract Map: Value array -> RESULT

    default this.Map(arguments) =
        match this.Mapped arguments with
        | Result.Error error -> ready error
        | Ok(struct (elements, env, name, body)) ->
            this.Elements(elements, env, name, body, Array.zeroCreate elements.Length, 0)

    member private this.Elements(elements: Value array, env, name, body, values: Value array, at) : RESULT =
        if at = elements.Length then
            ready (listed values)
        else
            bind observe (this.Apply(elements[at], env, name, body)) (fun value ->
                values[at] <- value
                this.HasValue elements[at]
                this.Elements(elements, env, name, body, values, at + 1))

    member this.Apply(element: Value, env: Env, name: string, body: Node) : RESULT =
        if this.Begins element then
            observe.Made()

            pending (
                task {
                    do! this.Pause()
                    return! toTask observe (this.Eval(body, this.Bind(env, name, element)))
                }
            )
        else
            this.Eval(body, this.Bind(env, name, element))

    /// The value of a result, awaited where it is pending.
    member _.Awaited(result: RESULT) = ValueTask<Value>(toTask observe result)
