(** A server of cohttp on Lwt, as it comes. *)

open Lwt.Syntax
open Cohttp_lwt_unix

(** Its name and version. *)
let found = Ok ("cohttp " ^ Cohttp.Conf.version)

(** Serves on a socket that listens until [stop]. [answer] gives the body of a response, or what is wrong. *)
let serve socket ~stop answer =
  let callback _ _ _ =
    let* said = answer () in
    match said with
    | Ok body -> Server.respond_string ~status:`OK ~body ()
    | Error body -> Server.respond_string ~status:`Internal_server_error ~body ()
  in
  Server.create ~stop ~mode:(`TCP (`Socket socket)) (Server.make ~callback ())
