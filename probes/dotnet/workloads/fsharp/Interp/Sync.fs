/// `sync`: plain recursion, which cannot suspend. An element that would yields its thread in place.
module Taskscale.Workloads.FSharp.Interp.Sync

open System.Threading
open Taskscale.Workloads.FSharp.Interp.Machine
open Taskscale.Workloads.FSharp.Interp.Values

type Evaluator<'O when 'O: struct and 'O :> Taskscale.Workloads.Interp.IObserve and 'O: (new: unit -> 'O) and 'O :> System.ValueType>
    (every: int64, observe: 'O) =
    inherit Machine<'O>(every, observe)

    member this.Eval(node: Node, env: Env) : Value =
        observe.Enter()

        let value =
            match node with
            | Literal value -> value
            | Var name -> find name env
            | Bin(callee, left, right) ->
                let left = this.Eval(left, env)
                this.Called(callee, [| left; this.Eval(right, env) |])
            | If(condition, yes, no) ->
                match this.Eval(condition, env) with
                | Bool true -> this.Eval(yes, env)
                | Bool false -> this.Eval(no, env)
                | other -> noBoolean other
            | Call(callee, nodes) ->
                let values = Array.zeroCreate nodes.Length

                for at in 0 .. nodes.Length - 1 do
                    values[at] <- this.Eval(nodes[at], env)

                this.Called(callee, values)
            | Let(name, value, body) -> this.Eval(body, this.Bind(env, name, this.Eval(value, env)))
            | Lambda(names, body) -> Closure(env, names, body)

        observe.Leave()
        value

    member private this.Called(callee, arguments) =
        match this.Find(callee, arguments) with
        | Plain plain -> plain arguments
        | Map -> this.Map arguments
        | Wrong error -> error

    member private this.Map arguments =
        match this.Mapped arguments with
        | Result.Error error -> error
        | Ok(struct (elements, env, name, body)) ->
            let values = Array.zeroCreate elements.Length

            for at in 0 .. elements.Length - 1 do
                if this.Begins elements[at] then
                    Thread.Yield() |> ignore
                    observe.Suspended()

                values[at] <- this.Eval(body, this.Bind(env, name, elements[at]))
                this.HasValue elements[at]

            listed values
