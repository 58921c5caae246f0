(** What an instrumented run counts: executions, their results, and where and how many at once they were. Never part of a
    run whose time is kept. *)

open Taskscale

type t = {
  lock : Mutex.t;
  mutable executions : int;
  mutable sum : int64;
  mutable live : int;
  mutable max_live : int;
  threads : (int, unit) Hashtbl.t;
}

let make () =
  { lock = Mutex.create (); executions = 0; sum = 0L; live = 0; max_live = 0; threads = Hashtbl.create 16 }

(** A task is about to be created; for its creator. *)
let created count =
  Mutex.lock count.lock;
  count.live <- count.live + 1;
  count.max_live <- max count.max_live count.live;
  Mutex.unlock count.lock

(** A task has been done, with that result; for the task, last. *)
let executed count result =
  Mutex.lock count.lock;
  count.sum <- Int64.add count.sum result;
  count.executions <- count.executions + 1;
  Hashtbl.replace count.threads (Thread.id (Thread.self ())) ();
  count.live <- count.live - 1;
  Mutex.unlock count.lock

(** The sum of the results since it was last taken. *)
let take_sum count =
  let taken = count.sum in
  count.sum <- 0L;
  taken

(** Adds what was counted, unless tasks are missing or too many. *)
let report count (run : Run.t) (timing : Timing.t) =
  let expected = run.size * run.iterations in
  if count.executions <> expected then
    failwith (Printf.sprintf "%d tasks were executed, %d were asked for" count.executions expected);
  let counted =
    [
      ("executed", `Int count.executions);
      ("max_live", `Int count.max_live);
      ("workers_seen", `Int (Hashtbl.length count.threads));
    ]
  in
  { timing with extra = timing.extra @ counted }
