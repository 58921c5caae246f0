(** [blocking]: [size] tasks, started at once, of which one in so many blocks for a while: what do the others wait? A task
    tells how long it was ready before it ran: it gives way once, as [Lwt.pause] does. Answer of an iteration: the number of
    tasks done. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(** What tasks of all iterations tell. *)
type told = { mutable waits : int list; mutable blocked : int }

(** A task that is ready now. [block], where it is given, blocks, or promises to have done so elsewhere. *)
let task told block =
  let ready = Clock.wall_ns () in
  let* () = Lwt.pause () in
  told.waits <- (Clock.wall_ns () - ready) :: told.waits;
  match block with
  | None -> Lwt.return_unit
  | Some block ->
      let* () = block () in
      told.blocked <- told.blocked + 1;
      Lwt.return_unit

let perform block (run : Run.t) =
  let every = Run.integer run "every" and lasts = float_of_int (Run.integer run "block_us") /. 1e6 in
  let told = { waits = []; blocked = 0 } in
  let block = Option.map (fun block () -> block lasts) block in
  let one _ =
    let task i = task told (if i mod every = 0 then block else None) in
    let* () = Lwt.join (List.init run.size task) in
    Lwt.return (Int64.of_int run.size)
  in
  let sum = Lwt_main.run (Timed.time run one) in
  let waits = Array.of_list told.waits in
  Array.sort compare waits;
  (* The smallest wait that so many percent do not exceed. *)
  let least percent = `Int waits.((((Array.length waits * percent) + 99) / 100) - 1) in
  let extra =
    [ ("wait_p50_ns", least 50); ("wait_p99_ns", least 99); ("wait_max_ns", least 100); ("blocked", `Int told.blocked) ]
  in
  { sum with extra = extra @ sum.extra }

let declare () =
  Probe.param "blocking" "block_us" (`Int 1000) "how long a task blocks that does, in microseconds";
  Probe.param "blocking" "every" (`Int 100) "one task in so many blocks, the first of them";
  let inline lasts = Unix.sleepf lasts; Lwt.return_unit in
  Probe.variant "blocking" "without" ~note:"no task blocks" (perform None);
  Probe.variant "blocking" "inline" ~note:"Unix.sleepf on the one thread" (perform (Some inline));
  Probe.variant "blocking" "Lwt_preemptive.detach" ~note:"Unix.sleepf on a thread of the pool for it, and awaited"
    (perform (Some (Lwt_preemptive.detach Unix.sleepf)));
  Probe.variant "blocking" "Lwt_unix.sleep" ~note:"no thread blocks: the loop's timer" (perform (Some Lwt_unix.sleep))
