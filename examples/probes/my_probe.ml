(* A probe of your own, whole. Weigh it: taskscale run --probe my_probe.ml
   A package of yours is named as in a script, in a line of its own: #require "NAME" *)
open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(* What one task does; call your own code here, and still give 31 * i: the tool checks the sum of those. *)
let[@inline never] work i = 31 * i

let task i =
  let* () = Lwt.pause () in
  Lwt.return (work i)

let () =
  (* `taskscale run fanout` asks by this parameter how results are to be collected: here, in order. *)
  Probe.param "fanout" "order" (`String "ordered") ~choices:[ "ordered" ] "how results are collected";
  (* The workload, a name for the table, and how it is done; declare as many variants as you like to compare. Add
     ~creates_task:false to one whose units are nothing that the scheduler sees. *)
  Probe.variant "fanout" "mine" (fun run ->
      (* Set up what is needed once here: only what Timed.time does is timed. Without Lwt that is Timing.time. *)
      let numbers = List.init run.size Fun.id in
      Lwt_main.run
        (Timed.time run (fun phases ->
             let results = Lwt_list.map_p task numbers in
             Timing.created phases (* optional: the last task is started, so creation can be told from the rest *);
             let* results = results in
             Lwt.return (Int64.of_int (List.fold_left ( + ) 0 results)))));
  Serve.serve "mine" "1.0" (* your runtime's name and version *)
