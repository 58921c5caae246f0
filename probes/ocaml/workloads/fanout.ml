(** [fanout]: start [size] tasks, collect [size] results. Answer of an iteration: the sum of the tasks' results; in the
    order [discard], where a timed run has no results, the number of tasks started. *)

open Lwt.Syntax
open Taskscale
open Tasks
module Timed = Timing.Async (Lwt)

(** A request, read. *)
type plan = {
  size : int;
  discard : bool;
  window : int;  (** [size] where all tasks may be alive at once *)
  batches : int list list;  (** the numbers of the tasks, [window] at a time *)
  count : Count.t option;  (** of an instrumented run *)
  right : int -> int64;  (** what task i gives, by its definition *)
}

(** A way of doing it: an iteration for every kind of task. *)
type form = { once : 'a. plan -> 'a kind -> Timing.phases -> int64 Lwt.t }

(** Most threads alive: a process may have some 32,000, and each takes 50 to 100 us to start. *)
let max_threads = 10_000

(** The answer of results in the order of their tasks. *)
let ordered plan kind first results =
  (* A sum alone would not show that results lie in the wrong places. *)
  if plan.count <> None then
    List.iteri
      (fun at result ->
        let result = kind.sum [ result ] and right = plan.right (first + at) in
        if result <> right then failwith (Printf.sprintf "result %d is %Ld, not %Ld" (first + at) result right))
      results;
  kind.sum results

(** The answer of tasks without results. *)
let discarded plan =
  match plan.count with Some count -> Count.take_sum count | None -> Int64.of_int plan.size

(** The answer of tasks that wrote slots. *)
let of_slots plan kind slots =
  if plan.count <> None then ordered plan kind 0 (Array.to_list slots) else kind.sum_slots slots

(** One batch after another. *)
let rec in_turn batches start phases =
  match batches with
  | [] -> Lwt.return_unit
  | batch :: rest ->
      let finished = start batch in
      Timing.created phases;
      let* () = finished in
      in_turn rest start phases

(** A form whose tasks give their results. *)
let gathered plan kind collect phases =
  let rec go sum first = function
    | [] -> Lwt.return sum
    | batch :: rest ->
        let results = collect batch in
        Timing.created phases;
        let* results = results in
        go (Int64.add sum (ordered plan kind first results)) (first + plan.window) rest
  in
  go 0L 0 plan.batches

(** A form whose tasks write slots, or throw their results away. [start] begins a batch of such tasks. *)
let slotted plan kind put drop start phases =
  if plan.discard then
    let* () = in_turn plan.batches (start (drop kind)) phases in
    Lwt.return (discarded plan)
  else
    let slots = Array.make plan.size kind.zero in
    let* () = in_turn plan.batches (start (put kind slots)) phases in
    Lwt.return (of_slots plan kind slots)

let paused_put kind = kind.paused_put
and paused_drop kind = kind.paused_drop

let map_p = { once = (fun plan kind -> gathered plan kind (Lwt_list.map_p kind.paused)) }
let map_p_at_once = { once = (fun plan kind -> gathered plan kind (Lwt_list.map_p kind.now)) }

(** [Lwt.all] itself maps its list on the stack. *)
let all =
  let collect task batch = Lwt.all (List.rev (List.rev_map task batch)) in
  { once = (fun plan kind -> gathered plan kind (collect kind.paused)) }

(** One after another, never more than one alive. *)
let map_s = { once = (fun plan kind -> gathered plan kind (Lwt_list.map_s kind.paused)) }

let join =
  let start task batch = Lwt.join (List.rev_map task batch) in
  { once = (fun plan kind -> slotted plan kind paused_put paused_drop start) }

(** A binary tree of [Lwt.both], as [and+] makes it. *)
let both =
  let start task batch =
    let task = Array.get (Array.of_list batch) |> fun number at -> task (number at) in
    let rec pair from until =
      if until - from = 1 then task from
      else
        let middle = (from + until) / 2 in
        let+ () = pair from middle and+ () = pair middle until in
        ()
    in
    pair 0 (List.length batch)
  in
  { once = (fun plan kind -> slotted plan kind paused_put paused_drop start) }

(** [Lwt.async], and the last task of a batch wakes whoever waits. *)
let async =
  let start task batch =
    let finished, wake = Lwt.wait () and left = ref (List.length batch) in
    let start i =
      Lwt.async (fun () ->
          let* () = task i in
          decr left;
          if !left = 0 then Lwt.wakeup_later wake ();
          Lwt.return_unit)
    in
    List.iter start batch;
    finished
  in
  { once = (fun plan kind -> slotted plan kind paused_put paused_drop start) }

(** [Lwt_stream.iter_n], the usual limit on what runs at once. It asks for all that run whenever one has to end. *)
let iter_n =
  let once plan kind phases =
    let numbers = Lwt_stream.of_list (List.concat plan.batches) in
    let finished = Lwt_stream.iter_n ~max_concurrency:plan.window kind.paused_drop numbers in
    Timing.created phases;
    let* () = finished in
    Lwt.return (discarded plan)
  in
  { once }

(** Each task pushes its result into a stream, and the creator takes as many out. With a window, a task is started
    whenever a result was taken. *)
let stream =
  let once plan kind phases =
    let results, push = Lwt_stream.create () in
    let start i =
      Lwt.async (fun () ->
          let* result = kind.paused i in
          push (Some result);
          Lwt.return_unit)
    in
    for i = 0 to plan.window - 1 do
      start i
    done;
    Timing.created phases;
    let rec take sum next left =
      if left = 0 then Lwt.return sum
      else
        let* result = Lwt_stream.next results in
        if next < plan.size then begin
          start next;
          Timing.created phases
        end;
        take (Int64.add sum (kind.sum [ result ])) (next + 1) (left - 1)
    in
    take 0L plan.window plan.size
  in
  { once }

let put kind = kind.put
and drop kind = kind.drop

(** Created here, as the task itself begins on another thread. *)
let created plan = Option.iter Count.created plan.count

(** Lwt's own pool of threads. *)
let detach =
  let start plan task batch =
    let start i =
      created plan;
      Lwt_preemptive.detach task i
    in
    Lwt.join (List.rev_map start batch)
  in
  { once = (fun plan kind -> slotted plan kind put drop (start plan)) }

let thread =
  let start plan task batch =
    let start i =
      created plan;
      Thread.create task i
    in
    List.iter Thread.join (List.rev_map start batch);
    Lwt.return_unit
  in
  { once = (fun plan kind -> slotted plan kind put drop (start plan)) }

(** The numbers from 0 to [size - 1], [window] at a time. *)
let batches size window =
  let batch at = List.init (min window (size - (at * window))) (fun i -> (at * window) + i) in
  List.init ((size + window - 1) / window) batch

let perform form (run : Run.t) =
  let work = Run.integer run "work" and seed = Int64.of_int run.seed in
  let window = match Run.integer run "window" with 0 -> run.size | window -> min window run.size in
  let count = if run.verify then Some (Count.make ()) else None in
  let right = right ~seed ~work in
  let discard = Run.word run "order" = "discard" in
  let plan = { size = run.size; discard; window; batches = batches run.size window; count; right } in
  let once =
    match count with
    | Some count -> form.once plan (counted count right)
    | None when work > 0 -> form.once plan (spun ~seed ~work)
    | None -> form.once plan plain
  in
  let extra = Run.integer run "extra_spin" in
  let slowed phases =
    let* answer = once phases in
    ignore (Sys.opaque_identity (Spin.spin seed extra));
    Lwt.return answer
  in
  let timing = Lwt_main.run (Timed.time run (if extra > 0 then slowed else once)) in
  match count with Some count -> Count.report count run timing | None -> timing

let declare () =
  let param = Probe.param "fanout" in
  let orders = [ "ordered"; "completion"; "discard" ] in
  param "order" ~choices:orders (`String "ordered") "how results are collected";
  param "work" (`Int 0) "steps of spin per task; 0: the task gives 31 * i";
  param "window" (`Int 0) "most tasks alive at once; 0: all";
  param "extra_spin" (`Int 0) "steps of spin once per iteration: a slow-down to be found";
  let variant name ?creates_task ?max_size ?note orders form =
    let only = [ ("order", List.map (fun order -> `String order) orders) ] in
    Probe.variant "fanout" name ?creates_task ?max_size ?note ~only (perform form)
  in
  let slots = [ "ordered"; "discard" ] in
  variant "map_p/pause" [ "ordered" ] map_p;
  variant "all/pause" [ "ordered" ] all ~max_size:131_072
    ~note:"Lwt.all maps its list on the stack, and 175,000 are too many for 8 MB";
  variant "join/pause" slots join;
  variant "both/pause" slots both ~note:"a tree of Lwt.both, as and+ makes it";
  variant "async/pause" slots async ~note:"Lwt.async; the last one wakes the creator";
  variant "iter_n/pause" [ "discard" ] iter_n ~max_size:262_144
    ~note:"Lwt_stream.iter_n, with the window as its limit; a million are too many for a stack of 8 MB";
  variant "stream/pause" [ "completion" ] stream ~note:"each pushes its result into a Lwt_stream";
  variant "map_s/pause" [ "ordered" ] map_s ~note:"one after another: never more than one alive";
  variant "map_p" [ "ordered" ] map_p_at_once ~creates_task:false
    ~note:"a task that never waits is done at the call, without the scheduler";
  variant "detach" slots detach ~note:"Lwt_preemptive.detach: 4 threads, one of them at a time in OCaml's code";
  variant "Thread" slots thread ~max_size:max_threads
    ~note:"Thread.create and Thread.join; a process may have some 32,000 threads"
