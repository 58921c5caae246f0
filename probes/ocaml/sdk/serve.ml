(** The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on. This is a
    whole probe, and [taskscale probe check] accepts it:

    {[
      open Taskscale

      let () =
        Probe.variant "nop" "Thread.create" (fun run ->
            Timing.time run (fun _phases ->
                let threads = List.init run.size (fun _ -> Thread.create ignore ()) in
                List.iter Thread.join threads;
                Int64.of_int run.size));
        Serve.serve "mypool" "1.0"
    ]}

    [clock.ml] reads the two clocks, [run.ml] makes a request a record, [timing.ml] is the timed loop, and [probe.ml]
    holds what a probe says of itself. *)

open Yojson.Safe.Util

(** Performs a request. *)
let sample message =
  let run, timing = Probe.perform message in
  let answer = `Intlit (Printf.sprintf "%Lu" timing.Timing.answer) in
  let times = [ ("wall_ns", `Int timing.wall_ns); ("cpu_ns", `Int timing.cpu_ns); ("answer", answer) ] in
  let extra = if timing.extra = [] then [] else [ ("extra", `Assoc timing.extra) ] in
  `Assoc ((("type", `String "sample") :: ("id", `Int run.Run.id) :: times) @ extra)

let describe name version workers message =
  match member "protocol" message with
  | `Int asked when asked = Probe.protocol -> Probe.description name version workers
  | asked ->
      let asked = Yojson.Safe.to_string asked in
      Printf.ksprintf failwith "the tool speaks protocol %s, this probe of %s speaks protocol %d; use both of one release"
        asked name Probe.protocol

(** Where replies go. Whatever a workload prints must not get between them. *)
let replies = ref stdout

(** How many lines went out. *)
let lines = ref 0

(** Sends a line to the tool. *)
let say said =
  incr lines;
  output_string !replies (Yojson.Safe.to_string said ^ "\n");
  flush !replies

(** Where in the user's own file it came up ([my_probe.ml:12: ]), if there; then standard error has the trace. Traces make
    exceptions dearer, so the request that failed is performed once more with them, unless it has spoken to the tool. *)
let place spoke again =
  match Sys.getenv_opt "TASKSCALE_PROBE_FILE" with
  | Some own when not spoke ->
      let is_own slot =
        match Printexc.Slot.location slot with
        | Some at when Filename.basename at.filename = own -> Some (Printf.sprintf "%s:%d: " own at.line_number)
        | _ -> None
      in
      Printexc.record_backtrace true;
      let slots =
        try ignore (again ()); None
        with _ -> Printexc.backtrace_slots (Printexc.get_raw_backtrace ())
      in
      let found = List.find_map is_own (Array.to_list (Option.value slots ~default:[||])) in
      if found <> None then (Printexc.print_backtrace stderr; flush stderr);
      Printexc.record_backtrace false;
      Option.value found ~default:""
  | _ -> ""

(** The reply to a line; [None] to [exit]. Whatever is raised is this request's failure only. *)
let reply name version workers line =
  let error message =
    Some (`Assoc [ ("type", `String "error"); ("message", `String message); ("protocol", `Int Probe.protocol) ])
  in
  match Yojson.Safe.from_string line with
  | exception Yojson.Json_error why -> error ("the line is not JSON: " ^ why)
  | message -> (
      let answer message =
        match member "type" message with
        | `String "exit" -> None
        | `String "describe" -> Some (describe name version workers message)
        | `String "run" -> Some (sample message)
        | asked ->
            Printf.ksprintf failwith "unknown request type %s; known here: describe, run, exit" (Yojson.Safe.to_string asked)
      in
      let before = !lines in
      try answer message with
      | Type_error (why, _) -> error ("no request: " ^ why)
      | raised ->
          let why = match raised with Failure why -> why | other -> Printexc.to_string other in
          error (place (!lines > before) (fun () -> answer message) ^ why))

(** Serves the declared workloads as runtime [name] until standard input ends or says [exit]. *)
let serve ?(workers = 1) name version =
  replies := Unix.out_channel_of_descr (Unix.dup Unix.stdout);
  Unix.dup2 Unix.stderr Unix.stdout;
  let rec loop () =
    match input_line stdin with
    | exception End_of_file -> ()
    | line -> Option.iter (fun said -> say said; loop ()) (reply name version workers line)
  in
  loop ()
