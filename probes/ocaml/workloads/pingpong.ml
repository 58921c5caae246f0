(** [pingpong]: [size] round trips of a token between the two threads of a pair, over [pairs] pairs. A thread passes the
    token on and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the token,
    and whoever began counts the trip only if that was done. *)

open Taskscale
module Timed = Timing.Async (Lwt)

(** What passes a token, and what waits for one. *)
type one_way = { pass : int -> unit Lwt.t; take : unit -> int Lwt.t }

(** A variable that holds one token. *)
let mvar () =
  let held = Lwt_mvar.create_empty () in
  { pass = Lwt_mvar.put held; take = (fun () -> Lwt_mvar.take held) }

(** A promise for each token. [wakeup_later] has who waits run when the one who passes it has returned. *)
let promise () =
  let next = ref (Lwt.wait ()) in
  let pass token = Lwt.return (Lwt.wakeup_later (snd !next) token) in
  let take () =
    Lwt.map
      (fun token ->
        next := Lwt.wait ();
        token)
      (fst !next)
  in
  { pass; take }

(** A token that the loop passes on at its next turn. *)
let through_the_loop () =
  let held = Lwt_mvar.create_empty () in
  let pass token = Lwt.bind (Lwt.pause ()) (fun () -> Lwt_mvar.put held token) in
  { pass; take = (fun () -> Lwt_mvar.take held) }

(** Begins. Gives the number of trips from which the token came back as it should. *)
let ping there back trips =
  let rec go token right =
    if token = trips then Lwt.return right
    else
      Lwt.bind (there.pass token) (fun () ->
          Lwt.bind (back.take ()) (fun got -> go (token + 1) (if got = token + 1 then right + 1 else right)))
  in
  go 0 0

(** Answers. *)
let rec pong there back trips =
  if trips = 0 then Lwt.return_unit
  else Lwt.bind (there.take ()) (fun token -> Lwt.bind (back.pass (token + 1)) (fun () -> pong there back (trips - 1)))

let perform made (run : Run.t) =
  let pairs = Run.integer run "pairs" in
  let one _phases =
    let pair number =
      let trips = (run.size / pairs) + if number < run.size mod pairs then 1 else 0 in
      let there = made () and back = made () in
      let answering = pong there back trips in
      Lwt.bind (ping there back trips) (fun right -> Lwt.map (fun () -> right) answering)
    in
    let add sum begun = Lwt.bind begun (fun right -> Lwt.map (( + ) right) sum) in
    Lwt.map Int64.of_int (List.fold_left add (Lwt.return 0) (List.init pairs pair))
  in
  Lwt_main.run (Timed.time run one)

(** The workload [pingpong]. Answer of an iteration: the number of round trips. *)
let declare () =
  Probe.param "pingpong" "pairs" (`Int 1) "pairs of threads that share the round trips";
  Probe.param "pingpong" "workers" ~choices:[ "one" ] (`String "one") "workers that run the threads: a loop is one";
  List.iter
    (fun (name, note, made) -> Probe.variant "pingpong" name ?note (perform made))
    [
      ("Lwt_mvar", None, mvar);
      ("wait", None, promise);
      ("pause", Some "an Lwt_mvar, filled at the loop's next turn", through_the_loop);
    ]
