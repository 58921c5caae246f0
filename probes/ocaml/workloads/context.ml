(** [context]: [size] awaits, behind each of which a thread reads one of the [variables] keys that it has given values. Two
    threads share the awaits, each with values of its own, so a key that is not of the thread has the wrong value. Without
    variables nothing is read. *)

open Taskscale
module Timed = Timing.Async (Lwt)

let keys : int Lwt.key array = Array.init 8 (fun _ -> Lwt.new_key ())

(** Calls [body] where the first [count] keys have values from [first] on. *)
let within first count body =
  let rec from number () =
    if number = count then body () else Lwt.with_value keys.(number) (Some (first + number)) (from (number + 1))
  in
  from 0 ()

(** Gives way to others and then reads, so many times. Gives how often the value was right. *)
let suspending awaits first count =
  let rec go number right =
    if number = awaits then Lwt.return right
    else
      Lwt.bind (Lwt.pause ()) (fun () ->
          let key = number mod count in
          go (number + 1) (if Lwt.get keys.(key) = Some (first + key) then right + 1 else right))
  in
  let rec unread left = if left = 0 then Lwt.return awaits else Lwt.bind (Lwt.pause ()) (fun () -> unread (left - 1)) in
  if count = 0 then unread awaits else go 0 0

let perform (run : Run.t) =
  let count = Run.integer run "variables" in
  if not (List.mem count [ 0; 1; 8 ]) then failwith (Printf.sprintf "variables is %d; give 0, 1 or 8" count);
  let one _phases =
    let thread first awaits = within first count (fun () -> suspending awaits first count) in
    let other = thread 1000 (run.size / 2) in
    let mine = thread 2000 (run.size - (run.size / 2)) in
    Lwt.bind mine (fun right -> Lwt.map (fun more -> Int64.of_int (right + more)) other)
  in
  Lwt_main.run (Timed.time run one)

(** The workload [context]. Answer of an iteration: the number of awaits behind which the value was right. *)
let declare () =
  Probe.param "context" "variables" (`Int 1) "keys that have a value: 0, 1 or 8";
  Probe.variant "context" "with_value" ~creates_task:false ~note:"Lwt.pause" perform
