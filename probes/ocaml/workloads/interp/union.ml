(** [union]: a result is there or pending, in a type of its own. Its [let*] takes the short path where it is there; what
    follows is a closure. *)

open Value
(*| open Observe |*)

type result = Ready of value | Pending of value Lwt.t

let pause = Lwt.pause
(*| let pause = Observe.pause |*)

(** What gives the value of a result. *)
let promised = function Ready value -> Lwt.return value | Pending promise -> promise

let chain promise next = Lwt.bind promise (fun value -> promised (next value))
(*| let chain promise next = chained promise (fun value -> promised (next value)) |*)

let ( let* ) result next =
  match result with Ready value -> next value | Pending promise -> Pending (chain promise next)

(*| let visit evaluate =
      enter ();
      match evaluate () with
      | Ready value -> leave (); Ready value
      | Pending promise -> Pending (until_there promise)
    let ending element result =
      let* value = result in
      Ready (ending element value) |*)

let rec eval node env =
  (*| visit @@ fun () -> |*)
  match node with
  | Literal value -> Ready value
  | Var name -> Ready (find env name)
  | Lambda { params; body } -> Ready (Closure { env; params; body })
  | Let { name; value; body } ->
      let* value = eval value env in
      eval body (bind env name value)
  | If { condition; consequent; alternative } -> (
      let* condition = eval condition env in
      match condition with
      | Bool true -> eval consequent env
      | Bool false -> eval alternative env
      | other -> Ready (not_a_boolean other))
  | Bin { callee; left; right } ->
      let* left = eval left env in
      let* right = eval right env in
      call callee [ left; right ]
  | Call { callee; arguments } -> evaluated callee [] arguments env

and evaluated callee values arguments env =
  match arguments with
  | [] -> call callee (List.rev values)
  | argument :: rest ->
      let* value = eval argument env in
      evaluated callee (value :: values) rest env

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
        | element :: rest ->
            let* value = apply env name body element in
            go (value :: values) rest
      in
      go [] elements
  | _ -> Ready not_a_map

and apply env name body element =
  (*| begins element; |*)
  (*| ending element @@ |*)
  if suspends element then Pending (chain (pause ()) (fun () -> eval body (bind env name element)))
  else eval body (bind env name element)

let request program = (*| taken @@ |*) promised (eval program Empty)
