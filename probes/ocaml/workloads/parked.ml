(** [parked]: [size] tasks that all wait, and are woken and collected. What is timed is the waking; what tasks hold while
    they wait is read where the request asks for it. Answer of an iteration: the number of tasks that were woken.

    A task of Lwt runs where it is made until it waits, on the one thread that there is: once all are made, all wait. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

let hour = 3600.

(** What tasks say of themselves. *)
type state = { mutable waiting : int; mutable woken : int }

(** Waits for [what], and gives its value. *)
let wait state what () =
  state.waiting <- state.waiting + 1;
  let* () = what () in
  state.woken <- state.woken + 1;
  Lwt.return_unit

(** An event that nothing has yet: all wait for one promise. *)
let event state size =
  let happens, wake = Lwt.wait () in
  (List.init size (fun _ -> wait state (fun () -> happens) ()), Lwt.wakeup_later wake)

(** An hour's sleep. Whoever cancels it has the sleep itself. *)
let timer state size =
  let slept () = Lwt.catch (fun () -> Lwt_unix.sleep hour) (function Lwt.Canceled -> Lwt.return_unit | e -> Lwt.fail e) in
  let tasks = List.init size (fun _ -> wait state slept ()) in
  (tasks, fun () -> List.iter Lwt.cancel tasks)

(** A lock that is held. *)
let lock state size =
  let held = Lwt_mutex.create () in
  ignore (Lwt_mutex.lock held);
  let taken () = Lwt_mutex.with_lock held (fun () -> Lwt.return_unit) in
  (List.init size (fun _ -> wait state taken ()), fun () -> Lwt_mutex.unlock held)

(** Resident bytes of this process after a collection. [smaps_rollup] counts pages; the kernel's running totals lag
    behind. *)
let resident () =
  Gc.full_major ();
  let file = open_in "/proc/self/smaps_rollup" in
  let rec find () =
    match Scanf.sscanf (input_line file) "Rss: %d kB" Fun.id with
    | kib -> kib * 1024
    | exception Scanf.Scan_failure _ -> find ()
  in
  Fun.protect ~finally:(fun () -> close_in file) find

(** One iteration of [start], which makes tasks and gives what wakes them. *)
let once (run : Run.t) start read =
  let state = { waiting = 0; woken = 0 } in
  read "resident_before";
  let tasks, wake = start state run.size in
  if state.waiting <> run.size || state.woken > 0 then
    failwith
      (Printf.sprintf "%d of %d tasks waited, and %d went on before they were woken" state.waiting run.size state.woken);
  read "resident_waiting";
  Timed.time { run with iterations = 1 } (fun _ ->
      wake ();
      let* () = Lwt.join tasks in
      Lwt.return (Int64.of_int state.woken))

let perform start (run : Run.t) =
  let reads = Run.flag run "resident" in
  let extra = ref [] in
  (* In the first iteration alone: later ones find a heap that has held tasks before. *)
  let read name = if reads && not (List.mem_assoc name !extra) then extra := (name, `Int (resident ())) :: !extra in
  let rec all left (sum : Timing.t) =
    if left = 0 then Lwt.return sum
    else
      let* part = once run start read in
      all (left - 1)
        {
          sum with
          wall_ns = sum.wall_ns + part.wall_ns;
          cpu_ns = sum.cpu_ns + part.cpu_ns;
          answer = Int64.add sum.answer part.answer;
        }
  in
  let sum = Lwt_main.run (all run.iterations { wall_ns = 0; cpu_ns = 0; answer = 0L; extra = [] }) in
  let told = if reads || run.verify then [ ("waiting", `Int run.size) ] else [] in
  { sum with extra = told @ List.rev !extra }

let declare () =
  Probe.param "parked" "on"
    ~choices:[ "event"; "timer"; "lock" ]
    (`String "event")
    "what tasks wait for: a promise that all share; an hour to pass, which is cancelled; a Lwt_mutex that is held";
  Probe.param "parked" "resident" (`Bool false)
    "also reads the memory of the process, after a collection: before the first task, and while all wait";
  let on (run : Run.t) =
    match Run.word run "on" with "timer" -> timer | "lock" -> lock | _ -> event
  in
  Probe.variant "parked" "join" ~note:"promises, which run where they are made until they wait" (fun run ->
      perform (on run) run)
