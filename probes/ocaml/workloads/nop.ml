(** [nop]: [size] tasks that do nothing, started and awaited. Answer of an iteration: the number of tasks done. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(** What the tasks of an instrumented run do more. *)
type seen = { created : unit -> unit; executed : unit -> unit }

let unseen = { created = ignore; executed = ignore }

let counted count =
  { created = (fun () -> Count.created count); executed = (fun () -> Count.executed count 1L) }

(** What a task on a thread does. Never inlined, as a task of any size would not be. *)
let[@inline never] nothing () = ()

(** A task that the scheduler sees. The body is in the promise's callback, where a task's would be. *)
let paused () =
  let* () = Lwt.pause () in
  Lwt.return_unit

let paused_and_seen seen () =
  seen.created ();
  let* () = Lwt.pause () in
  seen.executed ();
  Lwt.return_unit

(** Starts that many tasks, and gives what waits for them. *)
let join task size = Lwt.join (List.init size (fun _ -> task ()))

let async task size =
  let finished, wake = Lwt.wait () and left = ref size in
  for _ = 1 to size do
    Lwt.async (fun () ->
        let* () = task () in
        decr left;
        if !left = 0 then Lwt.wakeup_later wake ();
        Lwt.return_unit)
  done;
  finished

let detach created task size =
  let start _ =
    created ();
    Lwt_preemptive.detach task ()
  in
  Lwt.join (List.init size start)

let thread created task size =
  let start _ =
    created ();
    Thread.create task ()
  in
  List.iter Thread.join (List.init size start);
  Lwt.return_unit

let perform batch (run : Run.t) =
  let live = match Run.integer run "live" with 0 -> run.size | live -> min live run.size in
  let count = if run.verify then Some (Count.make ()) else None in
  let batch = batch (Option.map counted count) in
  let rec go left phases =
    if left = 0 then Lwt.return_unit
    else
      let size = min live left in
      let finished = batch size in
      Timing.created phases;
      let* () = finished in
      go (left - size) phases
  in
  let once phases =
    let* () = go run.size phases in
    Lwt.return (match count with Some count -> Count.take_sum count | None -> Int64.of_int run.size)
  in
  let timing = Collector.held run (fun ~before -> Lwt_main.run (Timed.time ~before run once)) in
  match count with Some count -> Count.report count run timing | None -> timing

(** The kinds of tasks: of Lwt, and of threads. *)
let promised start = function None -> start paused | Some seen -> start (paused_and_seen seen)

let threaded start = function
  | None -> start unseen.created nothing
  | Some seen -> start seen.created (fun () -> nothing (); seen.executed ())

let declare () =
  Probe.param "nop" "live" (`Int 0) "tasks alive at once, in batches; 0: all";
  Collector.declare "nop";
  let variant name = Probe.variant "nop" name in
  variant "join/pause" (perform (promised join));
  variant "async/pause" ~note:"Lwt.async; the last one wakes the creator" (perform (promised async));
  variant "detach" ~note:"Lwt_preemptive.detach: 4 threads, one of them at a time in OCaml's code"
    (perform (threaded detach));
  variant "Thread" ~max_size:Fanout.max_threads ~note:"a process may have some 32,000 threads"
    (perform (threaded thread))
