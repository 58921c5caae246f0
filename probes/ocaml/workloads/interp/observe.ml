(** What an instrumented run counts. The evaluators are compiled a second time with the text between the marks
    [(*| |*)], which calls this; a timed run has none of it.

    A promise that is pending when an evaluator gives it is a result that can be used once: [made] when it is there,
    [taken] by whoever goes on with it or passes it on. *)

open Value

let nodes = ref 0
let live = ref 0
let deepest = ref 0
let builtins = ref 0
let applications = ref 0
let extensions = ref 0
let suspended = ref 0

(** Uses of a pending promise beyond the first. *)
let again = ref 0

(** The promises that were pending when they were made, and that nobody has used yet; and those of this request that
    somebody has. *)
let unused : Obj.t list ref = ref []

let used : Obj.t list ref = ref []

(** The order log of this request, and the hash of the last output. *)
let log = Buffer.create 1000

let output = ref 0L

(** A run begins. *)
let reset () =
  List.iter (fun count -> count := 0) [ nodes; live; deepest; builtins; applications; extensions; suspended; again ];
  unused := []

(** A request begins. *)
let request () =
  Buffer.clear log;
  used := []

let enter () =
  incr nodes;
  incr live;
  deepest := max !deepest !live

let leave () = decr live

(** The evaluation of a node that gives its value. *)
let visit evaluate =
  enter ();
  let value = evaluate () in
  leave ();
  value

let bind env name value =
  incr extensions;
  bind env name value

let function_of callee =
  incr builtins;
  function_of callee

let logged what = function
  | Int element -> Printf.bprintf log "%c %Ld\n" what element
  | _ -> ()

(** The application to an element begins. *)
let begins element =
  incr applications;
  logged 'B' element

(** It has its value. *)
let has_value element = logged 'E' element

let ending element value =
  has_value element;
  value

(** The thread was yielded in place. *)
let yielded () = incr suspended

let is_pending promise = Lwt.state promise = Lwt.Sleep

let made promise =
  if is_pending promise then unused := Obj.repr promise :: !unused;
  promise

let taken promise =
  let one = Obj.repr promise in
  if List.memq one !unused then begin
    unused := List.filter (fun other -> other != one) !unused;
    used := one :: !used
  end
  else if is_pending promise || List.memq one !used then incr again;
  promise

(** A pause that the scheduler sees: it is not there when it is made. *)
let pause () =
  let pause = Lwt.pause () in
  if is_pending pause then Lwt.on_success pause yielded;
  made pause

(** What [next] makes of the value of a promise, and what [Lwt.map] does. *)
let chained promise next = made (Lwt.bind (taken promise) (fun value -> taken (next value)))

(** The evaluation of a node that gives a promise: it lasts until the value is there. *)
let until_there promise =
  if is_pending promise then
    chained promise (fun value ->
        leave ();
        Lwt.return value)
  else begin
    leave ();
    promise
  end

let ending_promise element promise = chained promise (fun value -> Lwt.return (ending element value))

let visit_promise evaluate =
  enter ();
  until_there (evaluate ())

(** The syntax and the lists of Lwt, counted. *)
module Syntax = struct
  let ( let* ) = chained
end

module Lwt_list = struct
  let map_s f list =
    let open Syntax in
    let rec go values = function
      | [] -> Lwt.return (List.rev values)
      | one :: rest ->
          let* value = f one in
          go (value :: values) rest
    in
    go [] list

  let map_p f list = made (Lwt_list.map_p (fun one -> taken (f one)) list)
end

(** FNV-1a with 64 bits. *)
let fnv1a text =
  let add hash letter = Int64.mul (Int64.logxor hash (Int64.of_int (Char.code letter))) 0x100000001b3L in
  String.fold_left add 0xcbf29ce484222325L text

(** The counts, under the names of the protocol. Numbers of 64 bits are strings. *)
let report () =
  let wide number = `String (Printf.sprintf "%Lu" number) in
  [
    ("nodes", `Int !nodes);
    ("builtins", `Int !builtins);
    ("applications", `Int !applications);
    ("extensions", `Int !extensions);
    ("deepest", `Int !deepest);
    ("suspended", `Int !suspended);
    ("consumed_twice", `Int (List.length !unused + !again));
    ("order", wide (fnv1a (Buffer.contents log)));
    ("output", wide !output);
  ]
