(** [cancel]: [size] tasks that all wait for what never comes, cancelled and collected, both of which is timed. Answer of an
    iteration: the number of tasks that saw that they were cancelled.

    A task of Lwt runs where it is made until it waits, on the one thread that there is: once all are made, all wait. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

let hour = 3600.

(** What tasks say of themselves. *)
type state = { mutable waiting : int; mutable cancelled : int }

(** What a task waits for; the lock is held. *)
let on (run : Run.t) =
  match Run.word run "on" with
  | "timer" -> fun () -> Lwt_unix.sleep hour
  | "lock" ->
      let held = Lwt_mutex.create () in
      ignore (Lwt_mutex.lock held);
      fun () -> Lwt_mutex.with_lock held (fun () -> Lwt.return_unit)
  | _ ->
      let event = Lwt_condition.create () in
      fun () -> Lwt_condition.wait event

let wait state what () =
  state.waiting <- state.waiting + 1;
  Lwt.catch what (function
    | Lwt.Canceled ->
        state.cancelled <- state.cancelled + 1;
        Lwt.return_unit
    | error -> Lwt.fail error)

(** [Lwt.cancel] of each, then all joined. *)
let each (run : Run.t) tasks =
  let tasks = if Run.word run "first" = "newest" then List.rev tasks else tasks in
  fun () ->
    List.iter Lwt.cancel tasks;
    Lwt.join tasks

(** One of [Lwt.pick] is done, which cancels the others. *)
let pick _ tasks =
  let done_, finish = Lwt.wait () in
  let picked = Lwt.pick (done_ :: tasks) in
  fun () ->
    Lwt.wakeup_later finish ();
    picked

let once (run : Run.t) way =
  let state = { waiting = 0; cancelled = 0 } in
  let what = on run in
  let tasks = List.init run.size (fun _ -> wait state what ()) in
  if state.waiting <> run.size || state.cancelled > 0 then
    failwith
      (Printf.sprintf "%d of %d tasks waited, and %d were cancelled before" state.waiting run.size state.cancelled);
  let cancel = way run tasks in
  Timed.time { run with iterations = 1 } (fun _ ->
      let* () = cancel () in
      Lwt.return (Int64.of_int state.cancelled))

let perform way (run : Run.t) =
  let wall = Clock.wall_ns () and cpu = Clock.cpu_ns () in
  let rec all left (sum : Timing.t) =
    if left = 0 then Lwt.return sum
    else
      let* part = once run way in
      all (left - 1)
        {
          sum with
          wall_ns = sum.wall_ns + part.wall_ns;
          cpu_ns = sum.cpu_ns + part.cpu_ns;
          answer = Int64.add sum.answer part.answer;
        }
  in
  let sum = Lwt_main.run (all run.iterations { wall_ns = 0; cpu_ns = 0; answer = 0L; extra = [] }) in
  { sum with extra = Timing.told (Clock.wall_ns () - wall - sum.wall_ns) (Clock.cpu_ns () - cpu - sum.cpu_ns) }

let declare () =
  Probe.param "cancel" "on"
    ~choices:[ "event"; "timer"; "lock" ]
    (`String "event") "what tasks wait for: a Lwt_condition; an hour to pass; a Lwt_mutex that is held";
  Probe.param "cancel" "first" ~choices:[ "oldest"; "newest" ] (`String "oldest") "which task is cancelled first";
  let note = "promises, which run where they are made until they wait" in
  Probe.variant "cancel" "Lwt.cancel" ~note (perform each);
  Probe.variant "cancel" "Lwt.pick" ~note ~only:[ ("first", [ `String "oldest" ]) ] (perform pick)
