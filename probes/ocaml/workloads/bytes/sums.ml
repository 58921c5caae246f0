(** A sum over bytes, and the forms of iteration that add a byte to it. *)

(** Bytes of a file that is mapped. *)
type mapped = (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t

module type S = sig
  (** Of no byte. *)
  val start : int64

  (** What a state is told as. *)
  val answer : int64 -> int64

  (** Each of these takes all bytes, and gives the answer. *)

  val for_get : string -> int64
  val for_unsafe_get : string -> int64
  val iter : string -> int64
  val fold_left : string -> int64
  val mapped : mapped -> int64
  val mapped_unsafe : mapped -> int64
  val input_char : in_channel -> int64
  val read_char : Lwt_io.input_channel -> int64 Lwt.t

  (** These add the first so many bytes, or all of them, to a state. *)

  val piece : bytes -> int -> int64 -> int64
  val text : string -> int64 -> int64
end

(** How many bytes instrumented runs have consumed. *)
let consumed = ref 0
