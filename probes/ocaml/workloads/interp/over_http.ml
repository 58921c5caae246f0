(** [mode] http-closed and http-open: a server, whose every GET evaluates a request. [listener_cohttp.ml] is the server, and
    [listener_missing.ml] stands in its place where findlib has no cohttp. *)

open Lwt.Syntax
open Taskscale
module Timed = Timing.Async (Lwt)

let modes = [ "http-closed"; "http-open" ]

(** Whether a request asks for a server. *)
let asked run = List.mem (Run.word run "mode") modes

(** Why there is none here. *)
let unavailable =
  let remedy = "apt install libcohttp-lwt-unix-ocaml-dev, or opam install cohttp-lwt-unix" in
  match Listener.found with Ok _ -> None | Error reason -> Some (Probe.unavailable reason remedy)

(** What a line of the tool asks for. *)
let kind line =
  match Yojson.Safe.(Util.member "type" (from_string line)) with
  | `String kind -> kind
  | _ | (exception (Yojson.Json_error _ | Yojson.Safe.Util.Type_error _)) -> "no request"

(** Waits for the tool to say [awaited], on a thread beside the loop. That thread does not hold the runtime's lock while
    it sleeps in reading. *)
let rec heard awaited =
  let* line = Lwt_preemptive.detach input_line stdin in
  if kind line = awaited then Lwt.return_unit
  else begin
    Serve.say (`Assoc [ ("type", `String "error"); ("message", `String "a server is running: say begin or stop") ]);
    heard awaited
  end

(** A socket that listens on a port that the system chooses, and the port. *)
let listening () =
  let socket = Lwt_unix.socket ~cloexec:true Unix.PF_INET Unix.SOCK_STREAM 0 in
  let* () = Lwt_unix.bind socket (Unix.ADDR_INET (Unix.inet_addr_loopback, 0)) in
  Lwt_unix.listen socket 128;
  match Lwt_unix.getsockname socket with
  | Unix.ADDR_INET (_, port) -> Lwt.return (socket, port)
  | Unix.ADDR_UNIX _ -> assert false

(** Serves until the tool says stop. [answer] makes one request and raises what is wrong with its output; [right] is the
    body of a response. *)
let serve (run : Run.t) ~right answer =
  let server = match Listener.found with Ok server -> server | Error reason -> failwith reason in
  (* A client that is gone is an error of its connection. *)
  Sys.set_signal Sys.sigpipe Sys.Signal_ignore;
  let answered = ref 0 and wrong = ref None in
  let answer () =
    Lwt.try_bind answer
      (fun () ->
        incr answered;
        Lwt.return_ok right)
      (fun failure ->
        let why = match failure with Failure why -> why | other -> Printexc.to_string other in
        if !wrong = None then wrong := Some why;
        Lwt.return_error why)
  in
  let say kind more = Serve.say (`Assoc (("type", `String kind) :: ("id", `Int run.id) :: more)) in
  let serving =
    let* socket, port = listening () in
    let stop, stopped = Lwt.wait () in
    let server_ended = Listener.serve socket ~stop answer in
    say "serving" [ ("port", `Int port); ("server", `String server) ];
    let timed =
      let* () = heard "begin" in
      answered := 0;
      Timed.time { run with iterations = 1 } (fun _ ->
          say "began" [];
          let* () = heard "stop" in
          Lwt.return (Int64.of_int !answered))
    in
    Lwt.finalize (fun () -> timed) (fun () ->
        Lwt.wakeup_later stopped ();
        server_ended)
  in
  let timing = Lwt_main.run serving in
  Option.iter failwith !wrong;
  timing
