(** Performs taskscale's workloads in OCaml with Lwt, and times them: [probe ocaml], on standard input and output. *)

let () =
  match Sys.argv with
  | [| _; "ocaml" |] ->
      Fanout.declare ();
      Nop.declare ();
      Spin.declare ();
      Parked.declare ();
      Cancel.declare ();
      Blocking.declare ();
      Pingpong.declare ();
      Remote.declare ();
      Context.declare ();
      Idle.declare ();
      Byte_stream.declare ();
      Interp.declare ();
      Taskscale.Serve.serve "ocaml" Sys.ocaml_version
  | _ ->
      prerr_endline "no such runtime in this probe; choose ocaml";
      exit 2
