(** The garbage collector in the state that a request asks for, while it is timed. *)

open Taskscale

let declare workload =
  let choices = [ "on"; "off" ] in
  Probe.param workload "gc" ~choices (`String "on") "the garbage collector: on; off"

(** Words of the young heap while the collector is off, 2 GB: the most that OCaml has. Only what is used becomes memory.
    Half of it may be used: where the second half begins, OCaml does a part of a major collection. *)
let young = 1 lsl (if Sys.word_size = 64 then 28 else 24)

(** What was collected, minor and major, and the words that were allocated young. *)
type seen = { minor : int; major : int; words : float }

let seen () =
  let stat = Gc.quick_stat () in
  { minor = stat.minor_collections; major = stat.major_collections; words = Gc.minor_words () }

(** A young heap of so many words, and a major collector that no allocation starts. *)
let stop young =
  let mega words = words * (Sys.word_size / 8) / 1024 / 1024 in
  (try Gc.set { (Gc.get ()) with minor_heap_size = young; space_overhead = 1_000_000 } with Out_of_memory -> ());
  let got = (Gc.get ()).minor_heap_size in
  if got < young then
    failwith
      (Printf.sprintf
         "gc=off needs a young heap of %d MB, and OCaml made one of %d MB: free memory, or ask for gc=on"
         (mega young) (mega got))

(** Performs [time], which is given what it is to do, untimed, before the clock starts. *)
let held ?(young = young) (run : Run.t) (time : before:(int -> unit) -> Timing.t) =
  let off = Run.word run "gc" = "off" and usual = Gc.get () in
  let first = ref (seen ()) in
  let before seed =
    (* A heap that is not collected has no place in its cycle. *)
    if off then Gc.minor () else Timing.anywhere_in_a_cycle seed;
    first := seen ()
  in
  Fun.protect
    ~finally:(fun () -> if off then Gc.set usual)
    (fun () ->
      if off then stop young;
      let timing = time ~before in
      let last = seen () in
      let minor = last.minor - !first.minor and major = last.major - !first.major in
      let words = last.words -. !first.words in
      if off && (minor + major > 0 || words > float_of_int (young / 2)) then
        failwith
          (Printf.sprintf
             "gc=off did not hold (collections: %d): half of the young heap of %d MB ran out (%d tasks, %d times); ask \
              for fewer tasks (--size), or for gc=on"
             (minor + major)
             (young / 1024 / 1024 * (Sys.word_size / 8))
             run.size run.iterations);
      if not (off || run.verify || run.phases) then timing
      else { timing with extra = ("gc_collections", `List [ `Int minor; `Int major ]) :: timing.extra })
