(** [union/inlined]: a result is there or pending, in a type of its own, and each use of one is written out: no closure is
    made where it is there. *)

open Value
(*| open Observe |*)

type result = Ready of value | Pending of value Lwt.t

let pause = Lwt.pause
(*| let pause = Observe.pause |*)

let promised = function Ready value -> Lwt.return value | Pending promise -> promise

(** What follows a pending result. *)
let chain promise next = Pending (Lwt.bind promise (fun value -> promised (next value)))
(*| let chain promise next = Pending (chained promise (fun value -> promised (next value)))
    let visit evaluate =
      enter ();
      match evaluate () with
      | Ready value -> leave (); Ready value
      | Pending promise -> Pending (until_there promise)
    let ending element = function
      | Ready value -> Ready (ending element value)
      | Pending promise -> chain promise (fun value -> Ready (ending element value)) |*)

let rec eval node env =
  (*| visit @@ fun () -> |*)
  match node with
  | Literal value -> Ready value
  | Var name -> Ready (find env name)
  | Lambda { params; body } -> Ready (Closure { env; params; body })
  | Let { name; value; body } -> (
      match eval value env with
      | Ready value -> eval body (bind env name value)
      | Pending value -> chain value (fun value -> eval body (bind env name value)))
  | If { condition; consequent; alternative } -> (
      match eval condition env with
      | Ready condition -> choose condition consequent alternative env
      | Pending condition ->
          chain condition (fun condition -> choose condition consequent alternative env))
  | Bin { callee; left; right } -> (
      match eval left env with
      | Ready left -> with_left callee left right env
      | Pending left -> chain left (fun left -> with_left callee left right env))
  | Call { callee; arguments } -> evaluated callee [] arguments env

and choose condition consequent alternative env =
  match condition with
  | Bool true -> eval consequent env
  | Bool false -> eval alternative env
  | other -> Ready (not_a_boolean other)

and with_left callee left right env =
  match eval right env with
  | Ready right -> call callee [ left; right ]
  | Pending right -> chain right (fun right -> call callee [ left; right ])

and evaluated callee values arguments env =
  match arguments with
  | [] -> call callee (List.rev values)
  | argument :: rest -> (
      match eval argument env with
      | Ready value -> evaluated callee (value :: values) rest env
      | Pending value -> chain value (fun value -> evaluated callee (value :: values) rest env))

and call callee arguments =
  match error_in arguments with
  | Some error -> Ready error
  | None -> (
      match function_of callee with
      | Some (Plain call) -> Ready (call arguments)
      | Some Map -> map arguments
      | Some (Promised _) | None -> Ready (unknown callee))

and map = function
  | [ List elements; Closure { env; params = [ name ]; body } ] ->
      let rec go values = function
        | [] -> Ready (listed (List.rev values))
        | element :: rest -> (
            match apply env name body element with
            | Ready value -> go (value :: values) rest
            | Pending value -> chain value (fun value -> go (value :: values) rest))
      in
      go [] elements
  | _ -> Ready not_a_map

and apply env name body element =
  (*| begins element; |*)
  (*| ending element @@ |*)
  if suspends element then chain (pause ()) (fun () -> eval body (bind env name element))
  else eval body (bind env name element)

let request program = (*| taken @@ |*) promised (eval program Empty)
