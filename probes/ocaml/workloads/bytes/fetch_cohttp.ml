(** Bodies of responses, by cohttp's client on Lwt. *)

open Lwt.Syntax
open Cohttp_lwt_unix

(** Whether it is here. *)
let found = Ok ()

let body address =
  let* response, body = Client.get (Uri.of_string address) in
  match Cohttp.Response.status response with
  | `OK -> Lwt.return body
  | status -> Lwt.fail_with ("it has status " ^ Cohttp.Code.string_of_status status ^ ", not 200")

(** All of it. *)
let to_string address = Lwt.bind (body address) Cohttp_lwt.Body.to_string

(** Has [take] take each piece of it as it comes. *)
let iter take address =
  let* body = body address in
  Lwt_stream.iter take (Cohttp_lwt.Body.to_stream body)
