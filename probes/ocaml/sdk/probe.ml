(** What a probe says of itself. The fields are those of protocol 1. *)

open Yojson.Safe.Util

let protocol = 1

(** A workload: its parameters and variants as the description says them, the last declared first, and how each variant
    is performed. *)
type workload = {
  mutable params : Yojson.Safe.t list;
  mutable variants : Yojson.Safe.t list;
  mutable performs : (string * (Run.t -> Timing.t)) list;
}

(** What [param] and [variant] declared, the last first. *)
let workloads : (string * workload) list ref = ref []

(** The workload of that name, which the first that is declared of it makes. *)
let declared name =
  match List.assoc_opt name !workloads with
  | Some workload -> workload
  | None ->
      let workload = { params = []; variants = []; performs = [] } in
      workloads := (name, workload) :: !workloads;
      workload

(** What says why something is not to be had in this toolchain, and what to do about it. *)
let unavailable reason remedy = `Assoc [ ("reason", `String reason); ("remedy", `String remedy) ]

let some key value = Option.to_list (Option.map (fun value -> (key, value)) value)

(** Declares a parameter of a workload. The type of its default is its type: [`Bool], [`Int], or [`String], which is one
    of [choices]; [unavailable] has the words that are not to be had here, each with its reason. *)
let param workload name ?(choices = []) ?unavailable default help =
  let workload = declared workload in
  let choices = `List (List.map (fun choice -> `String choice) choices) in
  let made = [ ("name", `String name); ("default", default); ("choices", choices); ("help", `String help) ] in
  let missing = some "unavailable" (Option.map (fun words -> `Assoc words) unavailable) in
  workload.params <- `Assoc (made @ missing) :: workload.params

(** Declares a way of doing a workload: [perform] takes a request and returns what [Timing.time] gave.

    [creates_task] says whether each unit is a task that the scheduler sees. [only] limits parameters to some of their
    values, [max_size] says what size the variant can bear, and [note] is one line for people. *)
let variant workload name ?(creates_task = true) ?(only = []) ?max_size ?unavailable ?note perform =
  let workload = declared workload in
  let only = List.map (fun (param, values) -> (param, `List values)) only in
  let about =
    [ ("name", `String name); ("creates_task", `Bool creates_task); ("only", `Assoc only) ]
    @ some "max_size" (Option.map (fun size -> `Int size) max_size)
    @ some "unavailable" unavailable
    @ some "note" (Option.map (fun note -> `String note) note)
  in
  workload.variants <- `Assoc about :: workload.variants;
  workload.performs <- (name, perform) :: workload.performs

(** The one of that name; raises where there is none. *)
let known all name what =
  match List.assoc_opt name all with
  | Some one -> one
  | None ->
      let names = List.rev_map fst all in
      failwith (Printf.sprintf "unknown %s %S; known here: %s" what name (String.concat ", " names))

(** Performs what [message] asks for. *)
let perform message =
  let workload = known !workloads (to_string (member "workload" message)) "workload" in
  let name = to_string (member "variant" message) in
  let perform = known workload.performs name "variant" in
  let variant = List.find (fun variant -> member "name" variant = `String name) workload.variants in
  let run = Run.of_json message ~params:workload.params ~variant in
  (run, Counters.around run perform)

(** The reply to [describe]. Measures the clocks' resolution, which takes about a millisecond. *)
let description name version workers =
  let runtime =
    [ ("name", name); ("language", "ocaml"); ("version", version); ("toolchain", Toolchain.it) ]
    |> List.map (fun (key, text) -> (key, `String text))
  in
  let resolution clock = `Int (Clock.resolution_ns clock) in
  let wall = resolution Clock.wall_ns and cpu = resolution Clock.cpu_ns in
  let workload (name, workload) =
    let declared = [ ("params", workload.params); ("variants", workload.variants) ] in
    `Assoc (("name", `String name) :: List.map (fun (key, all) -> (key, `List (List.rev all))) declared)
  in
  let about =
    [ ("runtime", `Assoc runtime); ("clock", `Assoc [ ("wall_resolution_ns", wall); ("cpu_resolution_ns", cpu) ]); ("workers", `Int workers) ]
  in
  let workloads = ("workloads", `List (List.rev_map workload !workloads)) in
  let counters = ("counters", Counters.all) in
  `Assoc ((("type", `String "description") :: ("protocol", `Int protocol) :: about) @ [ counters; workloads ])
