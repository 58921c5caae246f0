(** [hidden]: a value may be a pending one, and whoever uses a value looks. Nothing is made for one that is there. *)

open Value
(*| open Observe |*)

let pause = Lwt.pause
(*| let pause = Observe.pause |*)

let promised = function Waiting promise -> promise | value -> Lwt.return value

(** What follows a pending value. *)
let chain promise next = Waiting (Lwt.bind promise (fun value -> promised (next value)))
(*| let chain promise next = Waiting (chained promise (fun value -> promised (next value)))
    let visit evaluate =
      enter ();
      match evaluate () with
      | Waiting promise -> Waiting (until_there promise)
      | value -> leave (); value
    let ending element = function
      | Waiting promise -> chain promise (fun value -> ending element value)
      | value -> ending element value |*)

let rec eval node env =
  (*| visit @@ fun () -> |*)
  match node with
  | Literal value -> value
  | Var name -> find env name
  | Lambda { params; body } -> Closure { env; params; body }
  | Let { name; value; body } -> (
      match eval value env with
      | Waiting value -> chain value (fun value -> eval body (bind env name value))
      | value -> eval body (bind env name value))
  | If { condition; consequent; alternative } -> (
      match eval condition env with
      | Waiting condition ->
          chain condition (fun condition -> choose condition consequent alternative env)
      | condition -> choose condition consequent alternative env)
  | Bin { callee; left; right } -> (
      match eval left env with
      | Waiting left -> chain left (fun left -> with_left callee left right env)
      | left -> with_left callee left right env)
  | Call { callee; arguments } -> evaluated callee [] arguments env

and choose condition consequent alternative env =
  match condition with
  | Bool true -> eval consequent env
  | Bool false -> eval alternative env
  | other -> not_a_boolean other

and with_left callee left right env =
  match eval right env with
  | Waiting right -> chain right (fun right -> call callee [ left; right ])
  | right -> call callee [ left; right ]

and evaluated callee values arguments env =
  match arguments with
  | [] -> call callee (List.rev values)
  | argument :: rest -> (
      match eval argument env with
      | Waiting value -> chain value (fun value -> evaluated callee (value :: values) rest env)
      | value -> evaluated callee (value :: values) rest env)

and call callee arguments =
  match error_in arguments with
  | Some error -> error
  | None -> (
      match function_of callee with
      | Some (Plain call) -> call arguments
      | Some Map -> map arguments
      | Some (Promised _) | None -> unknown callee)

and map = function
  | [ List elements; Closure { env; params = [ name ]; body } ] ->
      let rec go values = function
        | [] -> listed (List.rev values)
        | element :: rest -> (
            match apply env name body element with
            | Waiting value -> chain value (fun value -> go (value :: values) rest)
            | value -> go (value :: values) rest)
      in
      go [] elements
  | _ -> not_a_map

and apply env name body element =
  (*| begins element; |*)
  (*| ending element @@ |*)
  if suspends element then chain (pause ()) (fun () -> eval body (bind env name element))
  else eval body (bind env name element)

let request program = (*| taken @@ |*) promised (eval program Empty)
