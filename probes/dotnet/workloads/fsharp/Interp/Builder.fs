/// BUILDER at every node, and at every builtin unless the caller knows those that cannot suspend. This file is compiled once
/// for each builder, with the words in capitals replaced (fsharp.fsproj): all have the same source.
module Taskscale.Workloads.FSharp.Interp.MODULE

open System
open System.Threading.Tasks
open Taskscale.Workloads.FSharp.Interp.Machine
open Taskscale.Workloads.FSharp.Interp.Values
open Taskscale.Workloads.Interp
OPEN

type Evaluator<'O when 'O: struct and 'O :> IObserve and 'O: (new: unit -> 'O) and 'O :> ValueType>
    (every: int64, observe: 'O, syncCaller: bool) =
    inherit Machine<'O>(every, observe)

    member this.Eval(node: Node, env: Env) : RESULT =
        if 'O.Counts then ONCE observe (this.Counted(node, env)) else this.Evaluated(node, env)

    member private this.Counted(node: Node, env: Env) : RESULT =
        BUILDER {
            observe.Enter()
            let! value = ONCE observe (this.Evaluated(node, env))
            observe.Leave()
            return value
        }

    member private this.Evaluated(node: Node, env: Env) : RESULT =
        BUILDER {
            match node with
            | Literal value -> return value
            | Var name -> return find name env
            | Bin(callee, left, right) ->
                let! left = this.Eval(left, env)
                let! right = this.Eval(right, env)
                let arguments = [| left; right |]

                match this.Find(callee, arguments) with
                | Plain plain when syncCaller -> return plain arguments
                | Plain plain -> return! this.Builtin(plain, arguments)
                | Map -> return! this.Map arguments
                | Wrong error -> return error
            | If(condition, yes, no) ->
                match! this.Eval(condition, env) with
                | Bool true -> return! this.Eval(yes, env)
                | Bool false -> return! this.Eval(no, env)
                | other -> return noBoolean other
            | Call(callee, nodes) ->
                let arguments = Array.zeroCreate nodes.Length
                let at = ref 0

                while at.Value < nodes.Length do
                    let! value = this.Eval(nodes[at.Value], env)
                    arguments[at.Value] <- value
                    at.Value <- at.Value + 1

                match this.Find(callee, arguments) with
                | Plain plain when syncCaller -> return plain arguments
                | Plain plain -> return! this.Builtin(plain, arguments)
                | Map -> return! this.Map arguments
                | Wrong error -> return error
            | Let(name, value, body) ->
                let! value = this.Eval(value, env)
                return! this.Eval(body, this.Bind(env, name, value))
            | Lambda(names, body) -> return Closure(env, names, body)
        }

    member private _.Builtin(plain: Value array -> Value, arguments: Value array) : RESULT =
        BUILDER { return plain arguments }

    /// Tests break it.
    abstract Map: Value array -> RESULT

    default this.Map(arguments) =
        BUILDER {
            match this.Mapped arguments with
            | Result.Error error -> return error
            | Ok(struct (elements, env, name, body)) ->
                let values = Array.zeroCreate elements.Length
                let at = ref 0

                while at.Value < elements.Length do
                    let! value = this.Apply(elements[at.Value], env, name, body)
                    values[at.Value] <- value
                    this.HasValue elements[at.Value]
                    at.Value <- at.Value + 1

                return listed values
        }

    member this.Apply(element: Value, env: Env, name: string, body: Node) : RESULT =
        BUILDER {
            if this.Begins element then
                do! AWAIT (this.Pause())

            return! this.Eval(body, this.Bind(env, name, element))
        }
