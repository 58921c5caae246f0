(** [sync]: plain recursion, which cannot suspend. An element that would yields its thread in place. *)

open Value
(*| open Observe |*)

let rec eval node env =
  (*| visit @@ fun () -> |*)
  match node with
  | Literal value -> value
  | Var name -> find env name
  | Lambda { params; body } -> Closure { env; params; body }
  | Let { name; value; body } ->
      let value = eval value env in
      eval body (bind env name value)
  | If { condition; consequent; alternative } -> (
      match eval condition env with
      | Bool true -> eval consequent env
      | Bool false -> eval alternative env
      | other -> not_a_boolean other)
  | Bin { callee; left; right } ->
      let left = eval left env in
      let right = eval right env in
      call callee [ left; right ]
  | Call { callee; arguments } -> call callee (evaluated [] arguments env)

and evaluated values arguments env =
  match arguments with
  | [] -> List.rev values
  | argument :: rest ->
      let value = eval argument env in
      evaluated (value :: values) rest env

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
        | element :: rest ->
            let value = apply env name body element in
            go (value :: values) rest
      in
      go [] elements
  | _ -> not_a_map

and apply env name body element =
  (*| begins element; |*)
  if suspends element then Thread.yield () (*| |> yielded |*);
  (*| ending element @@ |*) eval body (bind env name element)

let request program = eval program Empty
