(** The two clocks, both in nanoseconds. [Unix] has neither: its finest are a wall clock that may be set, and
    [Sys.time], whose steps are microseconds. *)

(** Monotonic. Costs about 30 ns. *)
external wall_ns : unit -> (int[@untagged]) = "taskscale_is_native" "taskscale_wall_ns" [@@noalloc]

(** CPU that all threads of this process have used, user and system. Costs a system call, about 300 ns. *)
external cpu_ns : unit -> (int[@untagged]) = "taskscale_is_native" "taskscale_cpu_ns" [@@noalloc]

(** The smallest step that [clock] was seen to make in 1,000 steps: what it can really show, cost of reading it
    included. *)
let resolution_ns clock =
  let rec step before =
    let now = clock () in
    if now > before then now - before else step before
  in
  let rec smallest left best = if left = 0 then best else smallest (left - 1) (min best (step (clock ()))) in
  smallest 1000 max_int
