(** Values, trees and environments, which are the same in all encodings, and the builtins that cannot suspend. *)

(** A value of the program. Integers have 64 bits, so each is a block on the heap. *)
type value =
  | Int of int64
  | Str of string
  | Bool of bool
  | List of value list
  | Closure of { env : env; params : string list; body : node }
  | Error of string
  | Waiting of value Lwt.t  (** of the encoding [hidden] alone *)

(** A persistent linked list of names and values. *)
and env = Empty | Cell of { name : string; value : value; rest : env }

(** A node of the tree. *)
and node =
  | Literal of value
  | Var of string
  | Let of { name : string; value : node; body : node }
  | Bin of { callee : callee; left : node; right : node }
  | Call of { callee : callee; arguments : node list }
  | Lambda of { params : string list; body : node }
  | If of { condition : node; consequent : node; alternative : node }

(** How a call names its function: to be looked up in [table] at each call, unless it is [linked]. *)
and callee = { name : string; table : (string, builtin) Hashtbl.t; linked : builtin option }

and builtin =
  | Plain of (value list -> value)
  | Promised of (value list -> value Lwt.t)
  | Map  (** [List::map], which may suspend. Every encoding has its own. *)

(** This environment with one more cell in front. *)
let bind env name value = Cell { name; value; rest = env }

(** The value that was bound last under [name]. *)
let rec find env name =
  match env with
  | Cell cell -> if String.equal cell.name name then cell.value else find cell.rest name
  | Empty -> Error ("no variable " ^ name)

(** The first error among these values. *)
let rec error_in = function
  | [] -> None
  | (Error _ as error) :: _ -> Some error
  | _ :: rest -> error_in rest

(** The list of these values, or the first error among them. *)
let listed values = match error_in values with Some error -> error | None -> List values

let function_of callee =
  match callee.linked with Some _ as linked -> linked | None -> Hashtbl.find_opt callee.table callee.name

(** What a call of a function gives that is not there. *)
let unknown callee = Error ("no function " ^ callee.name)

(** What an [if] gives whose condition is neither true nor false. *)
let not_a_boolean = function Error _ as error -> error | _ -> Error "a condition must be a boolean"

(** What [List::map] gives with other arguments than a list and a lambda of one parameter. *)
let not_a_map = Error "List::map needs a list and a lambda"

(** An element that [!every] divides suspends; none where it is 0. *)
let every = ref 0L

let suspends = function
  | Int element -> !every <> 0L && Int64.rem element !every = 0L
  | _ -> false

let range = function
  | [ Int first; Int last ] ->
      let rec down i values = if i < first then values else down (Int64.pred i) (Int i :: values) in
      List (down last [])
  | _ -> Error "Int::range needs two integers"

let remainder = function
  | [ Int _; Int 0L ] -> Int 0L
  | [ Int left; Int right ] -> Int (Int64.rem left right)
  | _ -> Error "Int::% needs two integers"

let equal = function
  | [ Int left; Int right ] -> Bool (Int64.equal left right)
  | _ -> Error "Int::== needs two integers"

let to_string = function
  | [ Int integer ] -> Str (Int64.to_string integer)
  | _ -> Error "Int::toString needs an integer"

let plain = [ ("Int::range", range); ("Int::%", remainder); ("Int::==", equal); ("Int::toString", to_string) ]
let table builtin = Hashtbl.of_seq (List.to_seq (("List::map", Map) :: List.map builtin plain))

(** The builtins of a caller that knows which of them cannot suspend. *)
let functions = table (fun (name, call) -> (name, Plain call))

(** Those of a caller to whom each gives a promise. *)
let promised_functions =
  table (fun (name, call) -> (name, Promised (fun arguments -> Lwt.return (call arguments))))

(** A result as JSON. *)
let rec to_json = function
  | Int integer -> `Intlit (Int64.to_string integer)
  | Str text -> `String text
  | Bool flag -> `Bool flag
  | List values -> `List (List.map to_json values)
  | Error text -> failwith ("a request's output is an error: " ^ text)
  | Closure _ -> failwith "a request's output is a lambda"
  | Waiting _ -> failwith "a request's output is a pending value"
