(** What the tasks of [fanout] do, written out for each kind of task and each way of giving its result, so that no task
    has a branch on it. *)

open Lwt.Syntax

(** A kind of task, whose results are ['a]. Where a name begins with [paused], the scheduler sees the task: it waits once,
    as one that has something to wait for does. *)
type 'a kind = {
  now : int -> 'a Lwt.t;  (** done where it is made *)
  paused : int -> 'a Lwt.t;
  put : 'a array -> int -> unit;  (** puts the result into its slot *)
  paused_put : 'a array -> int -> unit Lwt.t;
  drop : int -> unit;  (** throws the result away *)
  paused_drop : int -> unit Lwt.t;
  zero : 'a;
  sum : 'a list -> int64;
  sum_slots : 'a array -> int64;
}

(** What a plain task does. Never inlined, or the task would be empty. *)
let[@inline never] product i = 31 * i

(** Tasks that give [31 * i], in the integers of OCaml: their 63 bits are enough for the sum of 500 million tasks. *)
let plain =
  {
    now = (fun i -> Lwt.return (product i));
    paused =
      (fun i ->
        let* () = Lwt.pause () in
        Lwt.return (product i));
    put = (fun (slots : int array) i -> slots.(i) <- product i);
    paused_put =
      (fun (slots : int array) i ->
        let* () = Lwt.pause () in
        slots.(i) <- product i;
        Lwt.return_unit);
    drop = (fun i -> ignore (Sys.opaque_identity (product i)));
    paused_drop =
      (fun i ->
        let* () = Lwt.pause () in
        ignore (Sys.opaque_identity (product i));
        Lwt.return_unit);
    zero = 0;
    sum = (fun results -> Int64.of_int (List.fold_left ( + ) 0 results));
    sum_slots = (fun slots -> Int64.of_int (Array.fold_left ( + ) 0 slots));
  }

(** Tasks that give what [result] does. An [int64] that leaves its function is a block on the heap. *)
let wide result =
  {
    now = (fun i -> Lwt.return (result i));
    paused =
      (fun i ->
        let* () = Lwt.pause () in
        Lwt.return (result i));
    put = (fun slots i -> slots.(i) <- result i);
    paused_put =
      (fun slots i ->
        let* () = Lwt.pause () in
        slots.(i) <- result i;
        Lwt.return_unit);
    drop = (fun i -> ignore (Sys.opaque_identity (result i)));
    paused_drop =
      (fun i ->
        let* () = Lwt.pause () in
        ignore (Sys.opaque_identity (result i));
        Lwt.return_unit);
    zero = 0L;
    sum = List.fold_left Int64.add 0L;
    sum_slots = Array.fold_left Int64.add 0L;
  }

(** The result of task i, by its definition. *)
let right ~seed ~work i =
  if work = 0 then Int64.of_int (product i) else Spin.spin (Int64.add seed (Int64.of_int i)) work

(** The tasks that give [spin (seed + i) work]. *)
let spun ~seed ~work = wide (right ~seed ~work)

(** The tasks of either kind, counted: at the call that creates them, and when they have run. *)
let counted count right =
  let result i =
    let result = right i in
    Count.executed count result;
    result
  in
  let kind = wide result in
  let created task i =
    Count.created count;
    task i
  in
  {
    kind with
    now = created kind.now;
    paused = created kind.paused;
    paused_put = (fun slots -> created (kind.paused_put slots));
    paused_drop = created kind.paused_drop;
  }
