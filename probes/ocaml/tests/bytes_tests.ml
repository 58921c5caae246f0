(** [bytes]: from files, pipes and a server of this test. *)

open Taskscale

let same what show got right =
  if got <> right then failwith (Printf.sprintf "%s: %s, not %s" what (show got) (show right))

(** Of the content of each length, the sum modulo 256 and FNV-1a: what all languages must give. *)
let published =
  [ (8, 221L, 0xfc3775c20640340cL); (65_536, 214L, 0x361ce99ee50d834fL); (1_048_576, 38L, 0xe5d2ee95ab2a6e4bL) ]

(** The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42. *)
let content size =
  let open Int64 in
  let rotated x by = logor (shift_left x by) (shift_right_logical x (64 - by)) in
  let state = Array.init 4 (fun i -> Spin.splitmix (add 42L (mul (of_int i) 0x9E3779B97F4A7C15L))) in
  let xor i j = state.(i) <- logxor state.(i) state.(j) in
  let word () =
    let output = mul (rotated (mul state.(1) 5L) 7) 9L and shifted = shift_left state.(1) 17 in
    List.iter (fun (i, j) -> xor i j) [ (2, 0); (3, 1); (1, 2); (0, 3) ];
    state.(2) <- logxor state.(2) shifted;
    state.(3) <- rotated state.(3) 45;
    output
  in
  let bytes = Bytes.create ((size + 7) / 8 * 8) in
  for i = 0 to ((size + 7) / 8) - 1 do Bytes.set_int64_le bytes (8 * i) (word ()) done;
  Bytes.sub_string bytes 0 size

let sums text =
  let step (sum, hash) char =
    let byte = Int64.of_int (Char.code char) in
    (Int64.rem (Int64.add sum byte) 256L, Int64.mul (Int64.logxor hash byte) 0x100000001B3L)
  in
  String.fold_left step (0L, 0xCBF29CE484222325L) text

(** Writes all of it, in pieces of 999 bytes. *)
let write_in_pieces file text =
  let rec write at =
    if at < String.length text then begin
      let count = Unix.write_substring file text at (min 999 (String.length text - at)) in
      Thread.yield ();
      write (at + count)
    end
  in
  write 0

(** Answers one request a connection, until the socket is shut down. *)
let rec serve socket text =
  match Unix.accept socket with
  | exception Unix.Unix_error _ -> ()
  | client, _ ->
      let input = Unix.in_channel_of_descr client in
      let asked = input_line input in
      while String.trim (input_line input) <> "" do () done;
      let path = Printf.sprintf "GET /%d.bytes " (String.length text) in
      let here = String.length asked > String.length path && String.sub asked 0 (String.length path) = path in
      let status, body = if here then ("200 OK", text) else ("404 Not Found", "") in
      let head = Printf.sprintf "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close" status (String.length body) in
      write_in_pieces client (head ^ "\r\n\r\n" ^ body);
      close_in input;
      serve socket text

let folder () =
  let path = Filename.temp_file "taskscale" "bytes" in
  Sys.remove path;
  Unix.mkdir path 0o700;
  path

(** Has [use] ask for the content, which is in a folder and behind a server. *)
let having text use =
  let folder = folder () in
  let path = Printf.sprintf "%s/%d.bytes" folder (String.length text) in
  let file = open_out_bin path in
  output_string file text;
  close_out file;
  let socket = Unix.socket PF_INET SOCK_STREAM 0 in
  Unix.bind socket (ADDR_INET (Unix.inet_addr_loopback, 0));
  Unix.listen socket 8;
  let port = match Unix.getsockname socket with ADDR_INET (_, port) -> port | ADDR_UNIX _ -> assert false in
  let serving = Thread.create (serve socket) text in
  Unix.putenv "TASKSCALE_BYTES" folder;
  Unix.putenv "TASKSCALE_BYTES_URL" (Printf.sprintf "http://127.0.0.1:%d" port);
  let ended () =
    Unix.shutdown socket SHUTDOWN_ALL;
    Thread.join serving;
    Unix.close socket;
    List.iter (fun variable -> Unix.putenv variable "") [ "TASKSCALE_BYTES"; "TASKSCALE_BYTES_URL" ];
    Sys.remove path;
    Unix.rmdir folder
  in
  Fun.protect ~finally:ended use

(** The variants that are here, each with its source and its modes. *)
let variants () =
  let open Yojson.Safe.Util in
  let declared = List.assoc "bytes" !Probe.workloads in
  List.rev declared.variants
  |> List.filter (fun one -> member "unavailable" one = `Null)
  |> List.map (fun one ->
         let only name = member "only" one |> member name |> to_list |> List.map to_string in
         (to_string (member "name" one), List.hd (only "source"), only "mode"))

let ask ?(chunk = 65_536) ?(verify = false) name size params : Yojson.Safe.t =
  let params = ("chunk", `Int chunk) :: ("verify", `Bool verify) :: params in
  let numbers = [ ("id", 1); ("size", size); ("iterations", 2); ("seed", 7) ] in
  let numbers = List.map (fun (key, number) -> (key, `Int number)) numbers in
  let words = [ ("type", "run"); ("workload", "bytes"); ("variant", name) ] in
  let words = List.map (fun (key, word) -> (key, `String word)) words in
  Option.get (Serve.reply "ocaml" "0" 1 (Yojson.Safe.to_string (`Assoc (("params", `Assoc params) :: words @ numbers))))

let member = Yojson.Safe.Util.member
let json = Yojson.Safe.to_string
let twice answer = `Intlit (Printf.sprintf "%Lu" (Int64.mul 2L answer))

let gives ?chunk size (sum8, fnv) =
  List.iter
    (fun (name, _, modes) ->
      List.iter
        (fun mode ->
          let right = match mode with "sum8" -> sum8 | "fnv" -> fnv | _ -> Int64.of_int size in
          let what = Printf.sprintf "%s %s of %d" name mode size in
          let timed = ask ?chunk name size [ ("mode", `String mode) ] in
          if member "answer" timed <> twice right then failwith (what ^ ": " ^ json timed);
          let told = match member "extra" timed with `Assoc told -> List.map fst told | _ -> [] in
          same (what ^ ", timed") (String.concat " ") told [ "setup_wall_ns"; "setup_cpu_ns" ];
          let counted = ask ?chunk ~verify:true name size [ ("mode", `String mode) ] in
          if member "answer" counted <> twice right then failwith (what ^ ": " ^ json counted);
          same (what ^ ", executed") json (member "executed" (member "extra" counted)) (`Int (2 * size)))
        modes)
    (variants ())

let published_sums () =
  List.iter
    (fun (size, sum8, fnv) ->
      let text = content size in
      same "the content" (fun (sum8, fnv) -> Printf.sprintf "%Lu %Lu" sum8 fnv) (sums text) (sum8, fnv);
      having text (fun () -> gives size (sum8, fnv)))
    published

let lengths () =
  List.iter
    (fun (size, chunk) ->
      let text = content size in
      having text (fun () -> gives ~chunk size (sums text)))
    [ (1, 65_536); (65_535, 65_536); (65_537, 65_536); (65_537, 1_000); (999, 1) ]

let corrupted () =
  let text = Bytes.of_string (content 65_536) in
  let first = Bytes.get text 40_000 in
  Bytes.set text 40_000 (Bytes.get text 40_001);
  Bytes.set text 40_001 first;
  having (Bytes.to_string text) (fun () ->
      List.iter
        (fun (name, _, modes) ->
          let answer mode = member "answer" (ask name 65_536 [ ("mode", `String mode) ]) in
          if List.mem "fnv" modes then begin
            if answer "fnv" = twice 0x361ce99ee50d834fL then failwith (name ^ ": swapped bytes have the right hash");
            same name json (answer "sum8") (twice 214L)
          end)
        (variants ()))

(** Every way of reading a file, but not of mapping one. *)
let passes =
  let open Byte_stream in
  [
    ("input", Plain input); ("Unix.read", Plain unix_read); ("Lwt_io.read", Promised lwt_read);
    ("Lwt_unix.read", Promised lwt_unix_read);
    ("input_char", Plain (fun (module Sum) origin -> with_channel origin Sum.input_char));
    ("Lwt_io.read_char", Promised (fun (module Sum) origin -> with_lwt_channel origin Sum.read_char));
  ]

let passed sums origin = function
  | Byte_stream.Plain pass -> pass sums origin
  | Promised pass -> Lwt_main.run (pass sums origin)

let empty () =
  let place = Filename.temp_file "taskscale" "empty" in
  let from = { Byte_stream.place; chunk = 100 } in
  let open Byte_stream in
  let whole fold = Plain (fun sums origin -> fold sums (whole origin)) in
  let further =
    [
      ("for", whole (fun (module Sum) -> Sum.for_get)); ("unsafe_get", whole (fun (module Sum) -> Sum.for_unsafe_get));
      ("iter", whole (fun (module Sum) -> Sum.iter)); ("fold_left", whole (fun (module Sum) -> Sum.fold_left));
      ("mapped", Plain (fun (module Sum) -> mapped Sum.mapped));
      ("mapped_unsafe", Plain (fun (module Sum) -> mapped Sum.mapped_unsafe));
    ]
  in
  List.iter
    (fun (name, pass) ->
      same name (Printf.sprintf "%Lu") (passed (module Folds.Sum8) from pass) 0L;
      same name (Printf.sprintf "%Lu") (passed (module Folds.Fnv) from pass) 0xCBF29CE484222325L)
    (further @ passes);
  Sys.remove place

(** A read may give less than the buffer holds. *)
let short () =
  let text = content 20_011 in
  List.iter
    (fun (name, pass) ->
      let read, write = Unix.pipe ~cloexec:true () in
      let write () =
        (try write_in_pieces write text with Unix.Unix_error (EPIPE, _, _) -> ());
        Unix.close write
      in
      let writer = Thread.create write () in
      (* A descriptor is its number. *)
      let place = Printf.sprintf "/dev/fd/%d" (Obj.magic read : int) in
      let hash = passed (module Folds.Fnv) { Byte_stream.place; chunk = 4_096 } pass in
      Thread.join writer;
      Unix.close read;
      same name (Printf.sprintf "%Lu") hash (snd (sums text)))
    passes

let missing () =
  let said name size = Yojson.Safe.Util.to_string (member "message" (ask name size [])) in
  let begins what text words =
    if not (String.length text >= String.length words && String.sub text 0 (String.length words) = words) then
      failwith (what ^ ": " ^ text)
  in
  List.iter
    (fun (name, source, _) ->
      let variable = if source = "http" then "TASKSCALE_BYTES_URL" else "TASKSCALE_BYTES" in
      begins name (said name 5) (variable ^ " is not set"))
    (variants ());
  having (content 8) (fun () ->
      List.iter
        (fun (name, source, _) ->
          let place = Sys.getenv (if source = "http" then "TASKSCALE_BYTES_URL" else "TASKSCALE_BYTES") in
          begins name (said name 5) (Printf.sprintf "%s/5.bytes cannot be read: " place))
        (variants ()))

let all test =
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  test "every way of reading bytes gives the published sums, and counts each byte" published_sums;
  test "the last chunk may have any length" lengths;
  test "swapped bytes have another hash" corrupted;
  test "an empty file has the sum of nothing" empty;
  test "a read may give less than the buffer holds" short;
  test "what is missing is named" missing
