(** The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop would
    not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores. *)

(** What a timed run brought. [answer] is the sum of the iterations' answers modulo 2^64. *)
type t = { wall_ns : int; cpu_ns : int; answer : int64; extra : (string * Yojson.Safe.t) list }

(** The share of creation: the sums over iterations, and what they are less the time at which the iteration began.
    Reads no clock unless the request has [phases]. *)
type phases = { on : bool; mutable wall : int; mutable cpu : int; mutable wall_before : int; mutable cpu_before : int }

(** Says that the last task has just been started. Called more than once in an iteration (a windowed workload starts
    tasks until near its end), the last call counts. *)
let created phases =
  if phases.on then begin
    phases.wall <- phases.wall_before + Clock.wall_ns ();
    phases.cpu <- phases.cpu_before + Clock.cpu_ns ()
  end

let starts phases =
  if phases.on then begin
    phases.wall_before <- phases.wall - Clock.wall_ns ();
    phases.cpu_before <- phases.cpu - Clock.cpu_ns ()
  end

(** Fills a part of the young heap, untimed, that follows from the seed. A sample of few iterations holds one collection
    more or less, as the heap is fuller or emptier when it begins. All processes of a row begin alike, so all would have
    the same one: 2,048 tasks in samples of 4 ms cost 304 or 591 ns each, by the same code. *)
let anywhere_in_a_cycle seed =
  Gc.minor ();
  let blocks = Hashtbl.hash seed mod ((Gc.get ()).minor_heap_size / 2) in
  for _ = 1 to blocks do ignore (Sys.opaque_identity (ref seed)) done

let told wall cpu = [ ("setup_wall_ns", `Int (max wall 0)); ("setup_cpu_ns", `Int (max cpu 0)) ]

(** The phases, and what [before] took. *)
let phases_of before (run : Run.t) =
  let wall = Clock.wall_ns () in
  let cpu = Clock.cpu_ns () in
  before run.seed;
  let cpu = Clock.cpu_ns () - cpu in
  let wall = Clock.wall_ns () - wall in
  ({ on = run.phases; wall = 0; cpu = 0; wall_before = 0; cpu_before = 0 }, (wall, cpu))

let extra phases =
  if phases.wall = 0 then [] else [ ("create_wall_ns", `Int phases.wall); ("create_cpu_ns", `Int phases.cpu) ]

(** Times all iterations of [one], which does the workload once and returns its answer. [before] is done with the seed,
    untimed, before the clock starts. *)
let time ?(before = anywhere_in_a_cycle) (run : Run.t) one =
  let phases, (wall_setup, cpu_setup) = phases_of before run and answer = ref 0L in
  let wall = Clock.wall_ns () in
  let cpu = Clock.cpu_ns () in
  for _ = 1 to run.iterations do
    starts phases;
    answer := Int64.add !answer (one phases)
  done;
  let cpu_end = Clock.cpu_ns () in
  let wall_end = Clock.wall_ns () in
  let extra = extra phases @ told wall_setup cpu_setup in
  { wall_ns = wall_end - wall; cpu_ns = cpu_end - cpu; answer = !answer; extra }

(** Times of each iteration [one phases made] alone: [made] is what [setup ()] gave, anew each time, and [teardown made]
    ends it. What both took is told beside. Clocks are read around each iteration, for some 0.5 us: let one take 50 us
    or more. *)
let time_each ?(before = anywhere_in_a_cycle) ?(teardown = ignore) (run : Run.t) setup one =
  let phases, (wall_setup, cpu_setup) = phases_of before run in
  let answer = ref 0L and wall = ref 0 and cpu = ref 0 in
  let wall_begin = Clock.wall_ns () in
  let cpu_begin = Clock.cpu_ns () in
  for _ = 1 to run.iterations do
    let made = setup () in
    let wall_before = Clock.wall_ns () in
    let cpu_before = Clock.cpu_ns () in
    starts phases;
    answer := Int64.add !answer (one phases made);
    cpu := !cpu + Clock.cpu_ns () - cpu_before;
    wall := !wall + Clock.wall_ns () - wall_before;
    teardown made
  done;
  let cpu_rest = Clock.cpu_ns () - cpu_begin - !cpu in
  let wall_rest = Clock.wall_ns () - wall_begin - !wall in
  let extra = extra phases @ told (wall_setup + max wall_rest 0) (cpu_setup + max cpu_rest 0) in
  { wall_ns = !wall; cpu_ns = !cpu; answer = !answer; extra }

(** The same as [time] where [one] gives a promise: [module Timed = Timing.Async (Lwt)], then
    [Lwt_main.run (Timed.time run one)]. *)
module Async (Promise : sig
  type 'a t

  val return : 'a -> 'a t
  val bind : 'a t -> ('a -> 'b t) -> 'b t
end) =
struct
  let time ?(before = anywhere_in_a_cycle) (run : Run.t) one =
    let phases, (wall_setup, cpu_setup) = phases_of before run in
    let rec iterate left answer =
      if left = 0 then Promise.return answer
      else begin
        starts phases;
        Promise.bind (one phases) (fun more -> iterate (left - 1) (Int64.add answer more))
      end
    in
    let wall = Clock.wall_ns () in
    let cpu = Clock.cpu_ns () in
    Promise.bind (iterate run.iterations 0L) (fun answer ->
        let cpu_end = Clock.cpu_ns () in
        let wall_end = Clock.wall_ns () in
        let extra = extra phases @ told wall_setup cpu_setup in
        Promise.return { wall_ns = wall_end - wall; cpu_ns = cpu_end - cpu; answer; extra })
end
