(** What the runtime itself counts, and what reads it. *)

let all =
  let missing reason remedy = `Assoc [ ("reason", `String reason); ("remedy", `String remedy) ] in
  `Assoc
    [
      ("allocations", missing "OCaml counts words and no blocks" "ask for bytes: --metrics bytes");
      ("bytes", `String "Gc.counters");
      ("collections", `String "Gc.quick_stat");
      ("pause_ns", missing "OCaml does not time its collector" "ask for collections: --metrics gc");
    ]

(** Those that a request asks for. Words of the young heap, and those of the old one that did not come from it. *)
let read = function
  | None -> []
  | Some "memory" ->
      let minor, promoted, major = Gc.counters () in
      [ ("bytes", int_of_float (minor +. major -. promoted) * (Sys.word_size / 8)) ]
  | Some _ ->
      let stat = Gc.quick_stat () in
      [ ("collections", stat.minor_collections + stat.major_collections) ]

(** Performs a request, and says by how much each counter rose. *)
let around (run : Run.t) perform =
  let before = read run.counters in
  let timing : Timing.t = perform run in
  if run.counters = None then timing
  else
    let rise (name, after) = (name, `Int (after - List.assoc name before)) in
    { timing with extra = ("counters", `Assoc (List.map rise (read run.counters))) :: timing.extra }
