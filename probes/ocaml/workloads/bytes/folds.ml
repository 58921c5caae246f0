(** Both sums in every form of iteration. They are written out for each, since a compiler without flambda inlines nothing
    of a functor's argument. This file is compiled twice: as it stands, which is what is timed, and with what stands between
    the marks, which counts each byte where it is consumed. *)

open Lwt.Syntax
open Bigarray

(** The sum of all bytes modulo 256. *)
module Sum8 = struct
  let start = 0L
  let answer sum = Int64.logand sum 255L
  let told sum = Int64.of_int (sum land 255)

  let[@inline] add sum byte =
    (*| incr Sums.consumed; |*)
    sum + byte

  let for_get text =
    let sum = ref 0 in
    for i = 0 to String.length text - 1 do sum := add !sum (Char.code text.[i]) done;
    told !sum

  let for_unsafe_get text =
    let sum = ref 0 in
    for i = 0 to String.length text - 1 do sum := add !sum (Char.code (String.unsafe_get text i)) done;
    told !sum

  let iter text =
    let sum = ref 0 in
    String.iter (fun char -> sum := add !sum (Char.code char)) text;
    told !sum

  let fold_left text = told (String.fold_left (fun sum char -> add sum (Char.code char)) 0 text)

  let mapped (bytes : Sums.mapped) =
    let sum = ref 0 in
    for i = 0 to Array1.dim bytes - 1 do sum := add !sum bytes.{i} done;
    told !sum

  let mapped_unsafe (bytes : Sums.mapped) =
    let sum = ref 0 in
    for i = 0 to Array1.dim bytes - 1 do sum := add !sum (Array1.unsafe_get bytes i) done;
    told !sum

  let input_char file =
    let sum = ref 0 in
    try
      while true do sum := add !sum (Char.code (input_char file)) done;
      assert false
    with End_of_file -> told !sum

  let read_char file =
    let sum = ref 0 in
    let rec next () =
      let* char = Lwt_io.read_char file in
      sum := add !sum (Char.code char);
      next ()
    in
    Lwt.catch next (function End_of_file -> Lwt.return (told !sum) | why -> Lwt.fail why)

  let piece bytes count state =
    let sum = ref (Int64.to_int state) in
    for i = 0 to count - 1 do sum := add !sum (Char.code (Bytes.get bytes i)) done;
    Int64.of_int !sum

  let text bytes state =
    let sum = ref (Int64.to_int state) in
    for i = 0 to String.length bytes - 1 do sum := add !sum (Char.code bytes.[i]) done;
    Int64.of_int !sum
end

(** FNV-1a of 64 bits. The state is unboxed where it does not leave the function, and a block on the heap where a closure
    has it. *)
module Fnv = struct
  let start = 0xCBF29CE484222325L
  let answer = Fun.id

  let[@inline] add hash byte =
    (*| incr Sums.consumed; |*)
    Int64.mul (Int64.logxor hash (Int64.of_int byte)) 0x100000001B3L

  let for_get text =
    let hash = ref start in
    for i = 0 to String.length text - 1 do hash := add !hash (Char.code text.[i]) done;
    !hash

  let for_unsafe_get text =
    let hash = ref start in
    for i = 0 to String.length text - 1 do hash := add !hash (Char.code (String.unsafe_get text i)) done;
    !hash

  let iter text =
    let hash = ref start in
    String.iter (fun char -> hash := add !hash (Char.code char)) text;
    !hash

  let fold_left text = String.fold_left (fun hash char -> add hash (Char.code char)) start text

  let mapped (bytes : Sums.mapped) =
    let hash = ref start in
    for i = 0 to Array1.dim bytes - 1 do hash := add !hash bytes.{i} done;
    !hash

  let mapped_unsafe (bytes : Sums.mapped) =
    let hash = ref start in
    for i = 0 to Array1.dim bytes - 1 do hash := add !hash (Array1.unsafe_get bytes i) done;
    !hash

  let input_char file =
    let hash = ref start in
    try
      while true do hash := add !hash (Char.code (input_char file)) done;
      assert false
    with End_of_file -> !hash

  let read_char file =
    let hash = ref start in
    let rec next () =
      let* char = Lwt_io.read_char file in
      hash := add !hash (Char.code char);
      next ()
    in
    Lwt.catch next (function End_of_file -> Lwt.return !hash | why -> Lwt.fail why)

  let piece bytes count state =
    let hash = ref state in
    for i = 0 to count - 1 do hash := add !hash (Char.code (Bytes.get bytes i)) done;
    !hash

  let text bytes state =
    let hash = ref state in
    for i = 0 to String.length bytes - 1 do hash := add !hash (Char.code bytes.[i]) done;
    !hash
end
