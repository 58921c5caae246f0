/// Values, the tree, the environment, and the builtins that cannot suspend.
module Taskscale.Workloads.FSharp.Interp.Values

open System.Buffers
open System.Collections.Concurrent
open System.Collections.Generic
open System.Text.Json
open System.Threading.Tasks
open Taskscale.Workloads.Interp

/// The name of a function as in the article: compared field by field.
type Key =
    { Owner: string
      Package: string
      Module: string
      Function: string
      Version: int }

[<NoEquality; NoComparison>]
type Value =
    | Int of int64
    /// An integer of the lookup `article`.
    | Big of bigint
    | Str of string
    | Bool of bool
    | List of Value array
    | Closure of Env * string array * Node
    | Error of string
    /// Of the variant `hidden` alone.
    | Pending of Task<Value>

/// A persistent linked list of names and values.
and [<NoEquality; NoComparison>] Env =
    | Empty
    | Cell of name: string * value: Value * rest: Env

and [<NoEquality; NoComparison>] Node =
    | Literal of Value
    | Var of string
    | Let of name: string * value: Node * body: Node
    | Bin of Callee * left: Node * right: Node
    | Call of Callee * Node array
    | Lambda of string array * Node
    | If of condition: Node * yes: Node * no: Node

/// How a call names its function.
and [<NoEquality; NoComparison>] Callee =
    | Named of string
    | Keyed of Key
    | Linked of Function

and [<NoEquality; NoComparison>] Function =
    | Plain of (Value array -> Value)
    /// `List::map`, which may suspend. Every evaluator has its own.
    | Map
    /// There is none: the value of the call.
    | Wrong of Value

let rec find name env =
    match env with
    | Cell(bound, value, rest) -> if bound = name then value else find name rest
    | Empty -> Error $"no variable {name}"

/// The list of these values, or the first error among them.
let listed (values: Value array) =
    match Array.tryFind (fun (one: Value) -> one.IsError) values with
    | Some error -> error
    | None -> List values

let private range arguments =
    match arguments with
    | [| Int first; Int last |] -> List(Array.init (max 0 (int (last - first + 1L))) (fun at -> Int(first + int64 at)))
    | [| Big first; Big last |] -> List(Array.init (max 0 (int (last - first + 1I))) (fun at -> Big(first + bigint at)))
    | _ -> Error "Int::range needs two integers"

let private remainder arguments =
    match arguments with
    // The remainder by -1 is 0 too, and the processor's own fails for the smallest integer.
    | [| Int _; Int(0L | -1L) |] -> Int 0L
    | [| Int left; Int right |] -> Int(left % right)
    | [| Big left; Big right |] -> Big(if right.IsZero then right else left % right)
    | _ -> Error "Int::% needs two integers"

let private equal arguments =
    match arguments with
    | [| Int left; Int right |] -> Bool((left = right))
    | [| Big left; Big right |] -> Bool((left = right))
    | _ -> Error "Int::== needs two integers"

let private toString arguments =
    match arguments with
    | [| Int number |] -> Str(number.ToString())
    | [| Big number |] -> Str(number.ToString())
    | _ -> Error "Int::toString needs an integer"

let private functions =
    [ "Int::range", Plain range
      "Int::%", Plain remainder
      "Int::==", Plain equal
      "Int::toString", Plain toString
      "List::map", Map ]

let private key (name: string) =
    match name.Split "::" with
    | [| owner; func |] -> { Owner = "dark"; Package = "stdlib"; Module = owner; Function = func; Version = 0 }
    | _ -> { Owner = ""; Package = ""; Module = ""; Function = name; Version = 0 }

let private byName = Dictionary(functions |> Seq.map KeyValuePair)
let private byKey = functions |> Seq.map (fun (name, one) -> key name, one) |> Map.ofSeq

/// The function of a call.
let lookUp callee =
    match callee with
    | Named name ->
        match byName.TryGetValue name with
        | true, found -> found
        | _ -> Wrong(Error $"no function {name}")
    | Linked found -> found
    | Keyed key ->
        match byKey.TryFind key with
        | Some found -> found
        | None -> Wrong(Error $"no function {key.Module}::{key.Function}")

let private callee lookup name =
    match lookup with
    | "article" -> Keyed(key name)
    | "prelinked" when byName.ContainsKey name -> Linked byName[name]
    | _ -> Named name

let private tree lookup =
    { new ITree<Node> with
        member _.Int number = Literal(if lookup = "article" then Big(bigint number) else Int number)
        member _.Str text = Literal(Str text)
        member _.Var name = Var name
        member _.Let(name, value, body) = Let(name, value, body)
        member _.Bin(name, left, right) = Bin(callee lookup name, left, right)
        member _.Call(name, arguments) = Call(callee lookup name, arguments)
        member _.Lambda(names, body) = Lambda(names, body)
        member _.If(condition, yes, no) = If(condition, yes, no) }

let private read = ConcurrentDictionary<struct (string * string * int64), Node>()

/// The tree of what is asked for, read once per process.
let program (asked: Asked) =
    let key = struct (asked.Text, asked.Lookup, asked.Depth)
    read.GetOrAdd(key, (fun _ -> Text.Read(asked.Text, asked.Depth, tree asked.Lookup)))

let rec private wrong value =
    match value with
    | Error text -> Some $"an error: {text}"
    | Closure _ -> Some "a lambda"
    | Pending _ -> Some "a pending value"
    | List values -> Array.tryPick wrong values
    | _ -> None

let rec private writeTo (json: Utf8JsonWriter) value =
    match value with
    | Int number -> json.WriteNumberValue number
    | Big number -> json.WriteRawValue(number.ToString())
    | Str text -> json.WriteStringValue text
    | Bool flag -> json.WriteBooleanValue flag
    | List values ->
        json.WriteStartArray()

        for one in values do
            writeTo json one

        json.WriteEndArray()
    | _ -> ()

/// Writes a value as compact JSON. What has no JSON is written as what it is, and is then no right output.
let write (value: Value) (into: IBufferWriter<byte>) =
    use json = new Utf8JsonWriter(into)

    match wrong value with
    | Some words -> json.WriteRawValue(words, skipInputValidation = true)
    | None -> writeTo json value
