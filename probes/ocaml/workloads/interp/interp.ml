(** [interp]: requests to an interpreter that may suspend, in every encoding that OCaml has for it. Answer of an
    iteration: the number of requests with the right output.

    [value.ml] has values, environments and builtins, [program.ml] the trees, [observe.ml] what an instrumented run
    counts, [over_http.ml] the server with one of the two [listener_], and each of the others an evaluator. The names that
    begin with [Counted_] are these, compiled a second time. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(** A way of evaluating a program: at once, or with a promise. *)
type encoding = Value of (Value.node -> Value.value) | Promise of (Value.node -> Value.value Lwt.t)

(** Which elements suspend: those that this divides. *)
let every run =
  match Run.integer run "pause" with
  | 0 -> 0L
  | 6 -> 15L
  | 100 -> 1L
  | other -> failwith (Printf.sprintf "pause is %d; give 0, 6 or 100" other)

(** The programs that were read, by what was asked for. *)
let read = Hashtbl.create 8

(** Read once for each program, outside the timed part. *)
let program (run : Run.t) table =
  let depth = Run.integer run "depth" and linked = Run.word run "lookup" = "prelinked" in
  let key = (depth, linked, table == Value.functions) in
  match Hashtbl.find_opt read key with
  | Some program -> program
  | None ->
      let program = if depth > 0 then Program.nested depth else Program.parse ~linked table Program.text in
      Hashtbl.add read key program;
      program

(** Where an output first differs from the right one. *)
let difference output right =
  let sizes = (String.length output, String.length right) in
  let rec first at =
    if at < min (fst sizes) (snd sizes) && output.[at] = right.[at] then first (at + 1) else at
  in
  let at = first 0 in
  let part text = String.sub text at (min 40 (String.length text - at)) in
  Printf.sprintf "a request's output differs from byte %d on: %S, right is %S (%d bytes, right are %d)" at (part output)
    (part right) (fst sizes) (snd sizes)

(** Writes a result and compares it with the right output. *)
let judge right value =
  let output = Yojson.Safe.to_string (Value.to_json value) in
  if not (String.equal output right) then failwith (difference output right)

let judge_counted right value =
  judge right value;
  Observe.output := Observe.fnv1a right

(** Answers one request, for a server. *)
let answer encoding program ~begins ~judge =
  match encoding with
  | Value request ->
      fun () ->
        begins ();
        judge (request program);
        Lwt.return_unit
  | Promise request ->
      fun () ->
        begins ();
        let* value = request program in
        judge value;
        Lwt.return_unit

(** Answers all requests, one after the other. *)
let answer_all (run : Run.t) encoding program ~begins ~judge =
  match encoding with
  | Value request ->
      Timing.time run (fun _ ->
          for _ = 1 to run.size do
            begins ();
            judge (request program)
          done;
          Int64.of_int run.size)
  | Promise request ->
      let rec answer left =
        if left = 0 then Lwt.return (Int64.of_int run.size)
        else begin
          begins ();
          let* value = request program in
          judge value;
          answer (left - 1)
        end
      in
      Lwt_main.run (Timed.time run (fun _ -> answer run.size))

let perform run encoding program ~right ~begins ~judge =
  if Over_http.asked run then Over_http.serve run ~right (answer encoding program ~begins ~judge:(judge right))
  else answer_all run encoding program ~begins ~judge:(judge right)

(** The output that is right for a request. *)
let right run = if Run.integer run "depth" > 0 then "1" else Program.output

(** Why requests cannot be shared. Threads would take turns at the lock of the one domain, and only one of them may run
    Lwt's loop. *)
let no_workers = "the probe has one domain, which runs one thread at a time, and one loop of Lwt"

let variant name note ?(table = Value.functions) encoding counted =
  Probe.variant "interp" name ~creates_task:false ~note (fun run ->
      if Run.integer run "workers" > 0 then failwith no_workers;
      Value.every := every run;
      let program = program run table in
      let right = right run in
      if run.verify then begin
        Observe.reset ();
        let timing = perform run counted program ~right ~begins:Observe.request ~judge:judge_counted in
        { timing with extra = timing.extra @ Observe.report () }
      end
      else perform run encoding program ~right ~begins:ignore ~judge)

(** Answers the right bytes without evaluating. *)
let constant () =
  Probe.variant "interp" "constant" ~creates_task:false
    ~only:[ ("mode", List.map (fun mode -> `String mode) Over_http.modes) ]
    ?unavailable:Over_http.unavailable ~note:"the right bytes without evaluating: what the server costs"
    (fun run -> Over_http.serve run ~right:(right run) Lwt.return)

let declare () =
  let param = Probe.param "interp" in
  param "lookup" ~choices:[ "by_name"; "prelinked" ] (`String "by_name")
    "how a call finds its function: in a hash table, or in the tree; the environment is a linked list";
  param "pause" (`Int 0) "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100";
  param "depth" (`Int 0) "above 0: that many nested lets are evaluated";
  param "workers" (`Int 0) ~unavailable:[ ("*", Probe.unavailable no_workers "name runtimes that have workers: --runtime go --runtime tokio") ]
    "above 0: that many threads share the requests, each with a loop of its own";
  param "mode" (`String "inproc")
    ~choices:("inproc" :: (if Over_http.unavailable = None then Over_http.modes else []))
    ?unavailable:(Option.map (fun why -> List.map (fun mode -> (mode, why)) Over_http.modes) Over_http.unavailable)
    "whether requests are made in the process, or over HTTP to a server of cohttp";
  param "rate" (`Int 50) "http-open: percent of the closed throughput";
  variant "sync" "plain recursion; an element that suspends calls Thread.yield" (Value Sync.request)
    (Value Counted_sync.request);
  variant "async" "a promise of Lwt at every node and builtin" ~table:Value.promised_functions (Promise Async.request)
    (Promise Counted_async.request);
  variant "async/sync_caller" "a promise of Lwt at every node; builtins that cannot suspend are called"
    (Promise Async.request) (Promise Counted_async.request);
  variant "union" "a value or a pending one; a let* of its own takes the value at once" (Promise Union.request)
    (Promise Counted_union.request);
  variant "union/inlined" "a value or a pending one, looked at where it is used" (Promise Inlined.request)
    (Promise Counted_inlined.request);
  variant "hidden" "a value may be a pending one, looked at where it is used" (Promise Hidden.request)
    (Promise Counted_hidden.request);
  constant ()
