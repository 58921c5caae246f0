(** [remote]: [size] tasks that threads of the system hand to the main loop. The threads are started before the timed part,
    and wait. Each iteration lets them go, all at once, and ends when the last task has run. A task adds one to a count. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

let most_producers = 64

(** The number of tasks of each producer: as even a share as can be. *)
let shares (run : Run.t) =
  let producers = Run.integer run "producers" in
  if producers < 1 || producers > most_producers then
    failwith (Printf.sprintf "producers is %d; give 1 to %d" producers most_producers);
  List.init producers (fun one -> (run.size / producers) + if one < run.size mod producers then 1 else 0)

(** The tasks of an iteration, which all run in the main loop. The last one wakes whoever waits. *)
type ran = { all : int; mutable count : int; mutable wake : int Lwt.u }

(** What a task does. *)
let one ran =
  ran.count <- ran.count + 1;
  if ran.count = ran.all then Lwt.wakeup_later ran.wake ran.count

(** Does all iterations. [start] has the tasks of one handed over. *)
let time (run : Run.t) ran start =
  let once _phases =
    let finished, wake = Lwt.wait () in
    ran.count <- 0;
    ran.wake <- wake;
    start ();
    Lwt.map Int64.of_int finished
  in
  Lwt_main.run (Timed.time run once)

(** What producers wait at: how often it was opened, how many have come to it, and whether it opens no more. *)
type gate = { lock : Mutex.t; changed : Condition.t; mutable opened : int; mutable came : int; mutable closed : bool }

let change gate body =
  Mutex.lock gate.lock;
  body ();
  Condition.broadcast gate.changed;
  Mutex.unlock gate.lock

let wait_while gate waits =
  Mutex.lock gate.lock;
  while waits () do
    Condition.wait gate.changed gate.lock
  done;
  Mutex.unlock gate.lock

(** What a producer does: calls [submit] for each of its tasks whenever the gate opens. *)
let produce gate submit share =
  change gate (fun () -> gate.came <- gate.came + 1);
  let rec go iteration =
    wait_while gate (fun () -> gate.opened < iteration && not gate.closed);
    if gate.opened >= iteration then begin
      for _ = 1 to share do submit () done;
      go (iteration + 1)
    end
  in
  go 1

let from_threads run ran submit =
  let gate =
    { lock = Mutex.create (); changed = Condition.create (); opened = 0; came = 0; closed = false }
  in
  let shares = shares run in
  let threads = List.map (Thread.create (produce gate submit)) shares in
  wait_while gate (fun () -> gate.came < List.length shares);
  let ended () =
    change gate (fun () -> gate.closed <- true);
    List.iter Thread.join threads
  in
  Fun.protect ~finally:ended (fun () -> time run ran (fun () -> change gate (fun () -> gate.opened <- gate.opened + 1)))

let notified run ran =
  let notification = Lwt_unix.make_notification (fun () -> one ran) in
  let ended () = Lwt_unix.stop_notification notification in
  Fun.protect ~finally:ended (fun () -> from_threads run ran (fun () -> Lwt_unix.send_notification notification))

let in_main run ran =
  let task () = one ran; Lwt.return_unit in
  from_threads run ran (fun () -> Lwt_preemptive.run_in_main task)

(** Promises of the loop in place of the threads. *)
let local run ran =
  let task () = let+ () = Lwt.pause () in one ran in
  let share tasks = let+ () = Lwt.pause () in for _ = 1 to tasks do Lwt.async task done in
  let shares = shares run in
  time run ran (fun () -> List.iter (fun tasks -> Lwt.async (fun () -> share tasks)) shares)

(** The workload [remote]. Answer of an iteration: the number of tasks that have run. *)
let declare () =
  Probe.param "remote" "producers" (`Int 1) "threads beside that of the loop that share the tasks";
  List.iter
    (fun (name, note, form) ->
      let perform (run : Run.t) = form run { all = run.size; count = 0; wake = snd (Lwt.wait ()) } in
      Probe.variant "remote" name ~note perform)
    [
      ("send_notification", "of Lwt_unix; the loop calls a function for each", notified);
      ("run_in_main", "of Lwt_preemptive; the thread waits for each task", in_main);
      ("pause/local", "promises of the loop in place of the threads", local);
    ]
