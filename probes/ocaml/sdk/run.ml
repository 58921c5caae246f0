(** A [run] request, made into a record. The tool has held it to the description before it was sent. *)

open Yojson.Safe.Util

(** [verify] asks that every task's execution is counted by what it did, [phases] that the share of creation is told,
    [counters] which of the runtime's own are read, [memory] or [collector]; [params] has a value for every declared parameter. *)
type t = {
  id : int;
  size : int;
  iterations : int;
  seed : int;
  verify : bool;
  phases : bool;
  counters : string option;
  params : (string * Yojson.Safe.t) list;
}

(** The value of a declared parameter that is an integer, a word or a flag. *)
let integer run name = to_int (List.assoc name run.params)

let word run name = to_string (List.assoc name run.params)
let flag run name = to_bool (List.assoc name run.params)

(** What an absent value means: the default, or where the variant excludes that, the first value that it allows. *)
let default param variant =
  let value = member "default" param in
  match member "only" variant |> member (to_string (member "name" param)) with
  | `List (first :: _ as allowed) when not (List.mem value allowed) -> first
  | _ -> value

(** The request in [message] for a variant of a workload with these parameters. *)
let of_json message ~params ~variant =
  let given = match member "params" message with `Assoc given -> given | _ -> [] in
  let is_on name = List.assoc_opt name given = Some (`Bool true) in
  let value param =
    let name = to_string (member "name" param) in
    (name, Option.value (List.assoc_opt name given) ~default:(default param variant))
  in
  let number name = to_int (member name message) and verify = is_on "verify" and phases = is_on "phases" in
  let id = number "id" and size = number "size" and iterations = number "iterations" and seed = number "seed" in
  let counters = Option.map to_string (List.assoc_opt "counters" given) in
  { id; size; iterations; seed; verify; phases; counters; params = List.map value params }
