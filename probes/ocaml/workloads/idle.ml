(** [idle]: [size] milliseconds are watched, while [rate] threads of Lwt arrive a second. Thread i arrives i steps of
    [1000 / rate] milliseconds after the beginning, however late the one before it was, and adds a step to a count. A few a
    millisecond apart come before, untimed. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(** Waits until a time of the wall clock, in nanoseconds. The loop may end a sleep early, since it reads its clock before it
    waits. *)
let rec sleep_until due =
  let left = due - Clock.wall_ns () in
  if left <= 0 then Lwt.return_unit
  else
    let* () = Lwt_unix.sleep (float_of_int left /. 1e9) in
    sleep_until due

(** Starts so many threads, so many milliseconds apart, and gives what they have added. Each gives way once, as a task that is
    started would. *)
let arriving number step =
  let count = ref 0 and begun = Clock.wall_ns () in
  let thread () =
    let* () = Lwt.pause () in
    count := !count + step;
    Lwt.return_unit
  in
  let rec from i started =
    if i > number then Lwt.join started
    else
      let* () = sleep_until (begun + (i * step * 1_000_000)) in
      from (i + 1) (thread () :: started)
  in
  let* () = from 1 [] in
  Lwt.return (Int64.of_int !count)

let perform (run : Run.t) =
  let rate = Run.integer run "rate" in
  if not (List.mem rate [ 1; 10; 100; 1000 ]) then failwith (Printf.sprintf "rate is %d; give 1, 10, 100 or 1000" rate);
  let step = 1000 / rate in
  if run.size mod step <> 0 then
    failwith (Printf.sprintf "in %d ms no whole number of tasks arrives at %d a second" run.size rate);
  Lwt_main.run
    (let* _ = arriving 20 1 in
     Timed.time run (fun _phases -> arriving (run.size / step) step))

(** The workload [idle]. Answer of an iteration: the count. *)
let declare () =
  Probe.param "idle" "rate" (`Int 1000) "threads that arrive a second: 1, 10, 100 or 1000";
  Probe.variant "idle" "Lwt_unix.sleep" ~note:"a thread of Lwt sleeps, and starts the others" perform
