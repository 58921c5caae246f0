(** [async] and [async/sync_caller]: a promise at every node. The two differ in the table of their functions. *)

open Value
open Lwt.Syntax
(*| open Observe
    open Observe.Syntax |*)

let pause = Lwt.pause
(*| let pause = Observe.pause |*)

let rec eval node env =
  (*| visit_promise @@ fun () -> |*)
  match node with
  | Literal value -> Lwt.return value
  | Var name -> Lwt.return (find env name)
  | Lambda { params; body } -> Lwt.return (Closure { env; params; body })
  | Let { name; value; body } ->
      let* value = eval value env in
      eval body (bind env name value)
  | If { condition; consequent; alternative } -> (
      let* condition = eval condition env in
      match condition with
      | Bool true -> eval consequent env
      | Bool false -> eval alternative env
      | other -> Lwt.return (not_a_boolean other))
  | Bin { callee; left; right } ->
      let* left = eval left env in
      let* right = eval right env in
      call callee [ left; right ]
  | Call { callee; arguments } ->
      let* arguments = Lwt_list.map_s (fun argument -> eval argument env) arguments in
      call callee arguments

and call callee arguments =
  match error_in arguments with
  | Some error -> Lwt.return error
  | None -> (
      match function_of callee with
      | Some (Plain call) -> Lwt.return (call arguments)
      | Some (Promised call) -> call arguments
      | Some Map -> map arguments
      | None -> Lwt.return (unknown callee))

and map = function
  | [ List elements; Closure { env; params = [ name ]; body } ] ->
      let* values = Lwt_list.map_s (apply env name body) elements in
      Lwt.return (listed values)
  | _ -> Lwt.return not_a_map

and apply env name body element =
  (*| begins element; |*)
  (*| ending_promise element @@ |*)
  if suspends element then
    let* () = pause () in
    eval body (bind env name element)
  else eval body (bind env name element)

let request program = (*| taken @@ |*) eval program Empty
