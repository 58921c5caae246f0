(** [spin]: [size] steps of the kernel in one call. Tells how long a step takes, so that work can be chosen. Answer of an
    iteration: [spin seed size]. *)

open Taskscale

(** The output function of splitmix64 (Steele, Lea and Flood 2014; the constants are Stafford's mix 13). *)
let splitmix seed =
  let open Int64 in
  let z = add seed 0x9E3779B97F4A7C15L in
  let z = mul (logxor z (shift_right_logical z 30)) 0xBF58476D1CE4E5B9L in
  let z = mul (logxor z (shift_right_logical z 27)) 0x94D049BB133111EBL in
  logxor z (shift_right_logical z 31)

(** That many dependent steps of xorshift64, started at [splitmix seed]. Never inlined, or a task might be folded into
    its caller. The state stays in a register: the compiler boxes an [int64] that leaves the function alone. *)
let[@inline never] spin seed steps =
  let open Int64 in
  let x = ref (splitmix seed) in
  for _ = 1 to steps do
    x := logxor !x (shift_left !x 13);
    x := logxor !x (shift_right_logical !x 7);
    x := logxor !x (shift_left !x 17)
  done;
  !x

let declare () =
  Probe.variant "spin" "loop" ~creates_task:false ~note:"one call, no task" (fun run ->
      let seed = Int64.of_int run.seed in
      Timing.time run (fun _ -> spin seed run.size))
