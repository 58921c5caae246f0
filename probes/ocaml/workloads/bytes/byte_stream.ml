(** [bytes]: a stream of [size] bytes, read from its start to its end and summed up. Timed is from before the file is opened,
    or the request sent, until the sum is known. Answer of an iteration: the sum, or the number of bytes where none is asked
    for. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

(** Where bytes come from, by path or address, and how many of them are read at a time. *)
type origin = { place : string; chunk : int }

(** One pass. *)
type pass =
  | Plain of ((module Sums.S) -> origin -> int64)
  | Promised of ((module Sums.S) -> origin -> int64 Lwt.t)

let origin (run : Run.t) =
  let served = Run.word run "source" = "http" in
  let variable = if served then "TASKSCALE_BYTES_URL" else "TASKSCALE_BYTES" in
  match Sys.getenv_opt variable with
  | Some place when place <> "" -> { place = Printf.sprintf "%s/%d.bytes" place run.size; chunk = Run.integer run "chunk" }
  | _ ->
      let what = if served then "the address of a server" else "the folder" in
      Printf.ksprintf failwith "%s is not set: it is %s of %d.bytes, and taskscale sets it for its probes" variable what
        run.size

let sums (run : Run.t) : (module Sums.S) =
  match (Run.word run "mode", run.verify) with
  | "fnv", false -> (module Folds.Fnv)
  | "fnv", true -> (module Counted_folds.Fnv)
  | _, false -> (module Folds.Sum8)
  | _, true -> (module Counted_folds.Sum8)

let perform pass (run : Run.t) =
  let origin = origin run and sums = sums run in
  Sums.consumed := 0;
  let timing =
    try
      match pass with
      | Plain pass -> Timing.time run (fun _ -> pass sums origin)
      | Promised pass -> Lwt_main.run (Timed.time run (fun _ -> pass sums origin))
    with (Sys_error _ | Unix.Unix_error _ | Failure _) as why ->
      let why = match why with Sys_error why | Failure why -> why | other -> Printexc.to_string other in
      Printf.ksprintf failwith "%s cannot be read: %s" origin.place why
  in
  if run.verify then { timing with extra = [ ("executed", `Int !Sums.consumed) ] } else timing

(** The file as a channel of the standard library. *)
let with_channel { place; _ } use =
  let file = open_in_bin place in
  Fun.protect ~finally:(fun () -> close_in file) (fun () -> use file)

let whole origin = with_channel origin (fun file -> really_input_string file (in_channel_length file))

let input (module Sum : Sums.S) origin =
  with_channel origin (fun file ->
      let buffer = Bytes.create origin.chunk in
      let rec read state =
        match Stdlib.input file buffer 0 origin.chunk with
        | 0 -> Sum.answer state
        | count -> read (Sum.piece buffer count state)
      in
      read Sum.start)

(** The file by its descriptor. *)
let with_descriptor { place; _ } use =
  let file = Unix.openfile place [ O_RDONLY; O_CLOEXEC ] 0 in
  Fun.protect ~finally:(fun () -> Unix.close file) (fun () -> use file)

(** Has [take] add each piece to a state. *)
let read_all origin take start =
  with_descriptor origin (fun file ->
      let buffer = Bytes.create origin.chunk in
      let rec read state =
        match Unix.read file buffer 0 origin.chunk with 0 -> state | count -> read (take buffer count state)
      in
      read start)

let unix_read (module Sum : Sums.S) origin = Sum.answer (read_all origin Sum.piece Sum.start)

(** Nobody looks at the bytes. *)
let unread _ origin =
  let bytes = read_all origin (fun _ count bytes -> bytes + count) 0 in
  Sums.consumed := !Sums.consumed + bytes;
  Int64.of_int bytes

(** The collector unmaps it: OCaml has no call for that. *)
let mapped use origin =
  with_descriptor origin (fun file ->
      use (Bigarray.array1_of_genarray (Unix.map_file file Bigarray.int8_unsigned Bigarray.c_layout false [| -1 |])))

let with_lwt_channel { place; chunk } use =
  let buffer = Lwt_bytes.create (max chunk 16) in
  Lwt_io.with_file ~buffer ~mode:Lwt_io.input place use

let lwt_read (module Sum : Sums.S) origin =
  with_lwt_channel origin (fun file ->
      let rec read state =
        let* text = Lwt_io.read ~count:origin.chunk file in
        if text = "" then Lwt.return (Sum.answer state) else read (Sum.text text state)
      in
      read Sum.start)

let lwt_unix_read (module Sum : Sums.S) origin =
  let* file = Lwt_unix.openfile origin.place [ O_RDONLY; O_CLOEXEC ] 0 in
  let buffer = Bytes.create origin.chunk in
  let rec read state =
    let* count = Lwt_unix.read file buffer 0 origin.chunk in
    if count = 0 then Lwt.return (Sum.answer state) else read (Sum.piece buffer count state)
  in
  Lwt.finalize (fun () -> read Sum.start) (fun () -> Lwt_unix.close file)

let body_for (module Sum : Sums.S) origin =
  let* text = Fetch.to_string origin.place in
  Lwt.return (Sum.for_get text)

let body_stream (module Sum : Sums.S) origin =
  let state = ref Sum.start in
  let* () = Fetch.iter (fun text -> state := Sum.text text !state) origin.place in
  Lwt.return (Sum.answer !state)

let declare () =
  let words = List.map (fun word -> `String word) in
  let param name ?choices = Probe.param "bytes" name ?choices in
  param "source" ~choices:[ "file"; "http" ] (`String "file") "where bytes come from";
  param "mode"
    ~choices:[ "sum8"; "fnv"; "none" ]
    (`String "sum8") "the sum of all bytes modulo 256, FNV-1a of 64 bits, or none";
  param "chunk" (`Int 65_536) "bytes of the buffer, of variants that read into one";
  let variant name ?(source = "file") ?(modes = [ "sum8"; "fnv" ]) ?max_size ?unavailable ?note pass =
    let only = [ ("source", words [ source ]); ("mode", words modes) ] in
    Probe.variant "bytes" name ~creates_task:false ~only ?max_size ?unavailable ?note (perform pass)
  in
  let boxed = "the state of fnv is a block on the heap for each byte" in
  variant "really_input_string/for" (Plain (fun (module Sum) origin -> Sum.for_get (whole origin)));
  variant "really_input_string/unsafe_get" ~note:"for without the check of bounds"
    (Plain (fun (module Sum) origin -> Sum.for_unsafe_get (whole origin)));
  variant "really_input_string/String.iter" ~note:boxed (Plain (fun (module Sum) origin -> Sum.iter (whole origin)));
  variant "really_input_string/String.fold_left" ~note:boxed
    (Plain (fun (module Sum) origin -> Sum.fold_left (whole origin)));
  variant "input/for" ~note:"a channel's input, into Bytes" (Plain input);
  variant "Unix.read/for" ~note:"into Bytes" (Plain unix_read);
  variant "Unix.read/none" ~modes:[ "none" ] ~note:"nobody looks at the bytes: the floor" (Plain unread);
  variant "Unix.map_file/for" ~note:"a Bigarray, which the collector unmaps"
    (Plain (fun (module Sum) -> mapped Sum.mapped));
  variant "Unix.map_file/unsafe_get" ~note:"the same, without the check of bounds"
    (Plain (fun (module Sum) -> mapped Sum.mapped_unsafe));
  variant "input_char/while" ~max_size:(1 lsl 28) ~note:"out of a channel's own buffer; 256 MiB take some 7 s"
    (Plain (fun (module Sum) origin -> with_channel origin Sum.input_char));
  variant "Lwt_io.read/for" ~note:"strings" (Promised lwt_read);
  variant "Lwt_io.read_char/bind" ~max_size:(1 lsl 28)
    ~note:"a promise for each byte, there unless the buffer is to be filled; 256 MiB take some 4 s"
    (Promised (fun (module Sum) origin -> with_lwt_channel origin Sum.read_char));
  variant "Lwt_unix.read/for" ~note:"into Bytes; Lwt has threads make the calls" (Promised lwt_unix_read);
  let unavailable =
    let remedy = "apt install libcohttp-lwt-unix-ocaml-dev, or opam install cohttp-lwt-unix" in
    match Fetch.found with Ok () -> None | Error reason -> Some (Probe.unavailable reason remedy)
  in
  let variant = variant ~source:"http" ?unavailable in
  variant "Client.get/to_string/for" ~note:"cohttp, the whole body" (Promised body_for);
  variant "Client.get/to_stream/for" ~note:"cohttp, strings as they come" (Promised body_stream)
