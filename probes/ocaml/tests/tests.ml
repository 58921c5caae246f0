(** The OCaml probe's own tests: a line for each, [ok] or [FAILED]. *)

open Taskscale

let failures = ref 0

(** A test: a function that raises where something is wrong. *)
let test name check =
  match check () with
  | () -> Printf.printf "ok: %s\n%!" name
  | exception why ->
      incr failures;
      Printf.printf "FAILED: %s: %s\n%!" name (String.escaped (Printexc.to_string why))

let same what show got right =
  if got <> right then failwith (Printf.sprintf "%s: %s, not %s" what (show got) (show right))

let text = Fun.id
let wide = Printf.sprintf "%Ld"
let json = Yojson.Safe.to_string
let is = `Bool true

(** The reply to a request, as the tool would get it. *)
let ask message =
  match Serve.reply "ocaml" "0" 1 (json (`Assoc message)) with
  | Some reply -> reply
  | None -> failwith "no reply"

let run ?(size = 3) ?(iterations = 2) workload variant params =
  ask
    [
      ("type", `String "run");
      ("id", `Int 1);
      ("workload", `String workload);
      ("variant", `String variant);
      ("size", `Int size);
      ("iterations", `Int iterations);
      ("params", `Assoc params);
      ("seed", `Int 7);
    ]

let field name reply =
  match Yojson.Safe.Util.member name reply with `Null -> failwith (name ^ " is not in " ^ json reply) | value -> value

(** What a sample tells beside its times, those of setting up apart. *)
let counts_of sample =
  match Yojson.Safe.Util.member "extra" sample with
  | `Assoc told -> `Assoc (List.filter (fun (name, _) -> not (String.starts_with ~prefix:"setup_" name)) told)
  | _ -> `Assoc []

let message reply = Yojson.Safe.Util.to_string (field "message" reply)

(** The declared variants of a workload, with the values that each allows for a parameter. *)
let variants workload param =
  let declared = List.assoc workload !Probe.workloads in
  List.concat_map
    (fun variant ->
      let name = Yojson.Safe.Util.(to_string (member "name" variant)) in
      match Yojson.Safe.Util.(member "only" variant |> member param) with
      | `List values -> List.map (fun value -> (name, value)) values
      | _ -> [ (name, `Null) ])
    (List.rev declared.variants)

let set_up () =
  let run : Run.t =
    { id = 1; size = 3; iterations = 3; seed = 7; verify = false; phases = false; counters = None; params = [] }
  in
  let made = ref 0L and ended = ref 0L in
  let setup () =
    Unix.sleepf 0.003;
    made := Int64.add !made 10L;
    !made
  in
  let timing = Timing.time_each ~teardown:(fun made -> ended := Int64.add !ended made) run setup (fun _ made -> made) in
  same "answer" wide timing.answer 60L;
  same "ended" wide !ended 60L;
  match List.assoc "setup_wall_ns" timing.extra with
  | `Int wall when wall >= 9_000_000 -> ()
  | other -> failwith (json other)

let spin () =
  (* First outputs of splitmix64 with seed 1234567, from its author's reference program. *)
  let gamma = 0x9E3779B97F4A7C15L in
  List.iteri
    (fun i right ->
      let seed = Int64.add 1234567L (Int64.mul gamma (Int64.of_int i)) in
      same "splitmix" wide (Spin.splitmix seed) (Int64.of_string ("0u" ^ right)))
    [ "6457827717110365317"; "3203168211198807973"; "9817491932198370423" ];
  let step x =
    let open Int64 in
    let x = logxor x (shift_left x 13) in
    let x = logxor x (shift_right_logical x 7) in
    logxor x (shift_left x 17)
  in
  same "a step" wide (step 1L) 0x40822041L;
  same "two steps" wide (Spin.spin 7L 2) (step (step (Spin.splitmix 7L)))

let fanout () =
  let size = 50 in
  List.iter
    (fun (name, order) ->
      List.iter
        (fun (window, work) ->
          let params = [ ("order", order); ("window", `Int window); ("work", `Int work); ("extra_spin", `Int 1) ] in
          let what = Printf.sprintf "%s %s, window %d, work %d" name (json order) window work in
          let right i =
            if work = 0 then Int64.of_int (31 * i) else Spin.spin (Int64.of_int (7 + i)) work
          in
          let sum = List.fold_left (fun sum i -> Int64.add sum (right i)) 0L (List.init size Fun.id) in
          let answer sum = `Intlit (Printf.sprintf "%Lu" (Int64.mul 2L sum)) in
          let counted = run ~size "fanout" name (("verify", is) :: params) in
          same (what ^ ", counted") json (field "answer" counted) (answer sum);
          let extra = field "extra" counted in
          same (what ^ ", executed") json (field "executed" extra) (`Int (2 * size));
          let live = Yojson.Safe.Util.to_int (field "max_live" extra) in
          if live < 1 || live > if window = 0 then size else window then
            failwith (Printf.sprintf "%s: %d alive" what live);
          let sum = if order = `String "discard" then Int64.of_int size else sum in
          let timed = run ~size "fanout" name (("phases", is) :: params) in
          same (what ^ ", timed") json (field "answer" timed) (answer sum);
          ignore (field "create_wall_ns" (field "extra" timed)))
        [ (0, 0); (1, 0); (7, 5); (1000, 5) ])
    (variants "fanout" "order")

let nop () =
  List.iter
    (fun (name, _) ->
      List.iter
        (fun live ->
          let counted = run ~size:50 "nop" name [ ("live", `Int live); ("verify", is) ] in
          same name json (field "answer" counted) (`Intlit "100");
          let alive = Yojson.Safe.Util.to_int (field "max_live" (field "extra" counted)) in
          if alive > if live = 0 then 50 else live then failwith (Printf.sprintf "%s: %d alive" name alive);
          same name json (field "answer" (run ~size:50 "nop" name [ ("live", `Int live) ])) (`Intlit "100"))
        [ 0; 7 ])
    (variants "nop" "live")

(** With the collector off nothing is collected, and it is as it was afterwards. *)
let collector_off () =
  let usual = Gc.get () in
  let off = ("gc", `String "off") in
  let none = `List [ `Int 0; `Int 0 ] in
  let size name = if name = "Thread" || name = "detach" then 300 else 100_000 in
  let collections name params = field "gc_collections" (field "extra" (run ~size:(size name) "nop" name params)) in
  List.iter
    (fun (name, _) ->
      same name json (collections name [ off ]) none;
      same (name ^ ", counted") json (collections name [ off; ("verify", is) ]) none)
    (variants "nop" "live");
  if Gc.get () <> usual then failwith "the collector is not as it was";
  if collections "join/pause" [ ("verify", is) ] = none then failwith "with the collector on nothing was collected"

(** A request that was collected in spite of it fails. *)
let collected () =
  let usual = Gc.get () in
  let message = `Assoc [ ("id", `Int 1); ("size", `Int 9); ("iterations", `Int 2); ("seed", `Int 7) ] in
  let asked gc = Run.of_json message ~params:[] ~variant:`Null |> fun run -> { run with params = [ ("gc", `String gc) ] } in
  let said ?(young = 65536) gc one =
    match Collector.held ~young (asked gc) (fun ~before -> Timing.time ~before (asked gc) (fun _ -> one (); 1L)) with
    | timing -> Printf.sprintf "answer %Ld" timing.answer
    | exception Failure why -> why
  in
  let allocate words () = for _ = 1 to words / 2 do ignore (Sys.opaque_identity (ref 0)) done in
  let ran_out = Printf.sprintf "gc=off did not hold (collections: %d): half of the young heap of 0 MB ran out (9 tasks, 2 times); \
    ask for fewer tasks (--size), or for gc=on" in
  same "it fits" text (said "off" (allocate 15_000)) "answer 2";
  same "half of it" text (said "off" (allocate 20_000)) (ran_out 0);
  same "asked for" text (said "off" (fun () -> allocate 10 (); Gc.minor ())) (ran_out 2);
  same "on" text (said "on" Gc.full_major) "answer 2";
  (match said ~young:max_int "off" ignore with
  | why when String.length why > 29 && String.sub why 0 29 = "gc=off needs a young heap of " -> ()
  | why -> failwith why);
  if Gc.get () <> usual then failwith "a failed request leaves the collector off"

(** Forms with a mistake are found. *)
let mistakes () =
  let lossy =
    let once plan kind =
      Fanout.map_p.once { plan with Fanout.batches = [ List.init (plan.Fanout.size - 1) Fun.id ] } kind
    in
    { Fanout.once }
  in
  let swapped =
    let once plan kind =
      Fanout.map_p.once { plan with Fanout.batches = List.map List.rev plan.Fanout.batches } kind
    in
    { Fanout.once }
  in
  Probe.variant "fanout" "lossy" (Fanout.perform lossy);
  Probe.variant "fanout" "swapped" (Fanout.perform swapped);
  same "lossy" text (message (run "fanout" "lossy" [ ("verify", is) ])) "4 tasks were executed, 6 were asked for";
  same "swapped" text (message (run "fanout" "swapped" [ ("verify", is) ])) "result 0 is 62, not 0"

let protocol () =
  let said line = match Serve.reply "ocaml" "0" 1 line with Some reply -> message reply | None -> "nothing" in
  let begins what words =
    if not (String.length what >= String.length words && String.sub what 0 (String.length words) = words) then
      failwith (what ^ " does not begin with " ^ words)
  in
  begins (said "hello") "the line is not JSON: ";
  begins (said "[1]") "no request: ";
  begins (said "") "the line is not JSON: ";
  begins (said {|{"type":"describe","protocol":2}|}) "the tool speaks protocol 2, this probe of ocaml speaks protocol 1";
  begins (said {|{"type":"dance"}|}) "unknown request type \"dance\"; known here: describe, run, exit";
  begins (message (run "fanout" "none" [])) "unknown variant \"none\"; known here: map_p/pause, ";
  begins (message (run "none" "loop" [])) "unknown workload \"none\"; known here: fanout, nop, spin, parked, cancel, blocking, pingpong, remote, context, idle, bytes, interp";
  same "exit" text (said {|{"type":"exit"}|}) "nothing";
  (* An absent parameter is the first value that the variant allows where that excludes the default. *)
  same "by default" json (field "answer" (run "fanout" "iter_n/pause" [])) (`Intlit "6")

(** What six requests count, whatever suspends. *)
let counts = [ ("nodes", 1804); ("builtins", 603); ("applications", 100); ("extensions", 101) ]

let order = `String "2153812598003189471"
let output = `String "5476290587449551085"

(** The variants that evaluate. *)
let encodings () = List.filter (( <> ) "constant") (List.map fst (variants "interp" "lookup"))

let interp () =
  List.iter
    (fun name ->
      List.iter
        (fun (pause, lookup) ->
          let params = [ ("pause", `Int pause); ("lookup", `String lookup) ] in
          let what = Printf.sprintf "%s, pause %d, %s" name pause lookup in
          let extra = field "extra" (run "interp" name (("verify", is) :: params)) in
          let holds key right = same (what ^ ", " ^ key) json (field key extra) right in
          List.iter (fun (key, right) -> holds key (`Int (6 * right))) counts;
          holds "deepest" (`Int 8);
          holds "consumed_twice" (`Int 0);
          holds "suspended" (`Int (6 * pause));
          holds "order" order;
          holds "output" output;
          same what json (field "answer" (run "interp" name params)) (`Intlit "6"))
        [ (0, "by_name"); (6, "by_name"); (100, "by_name"); (100, "prelinked") ];
      let deep = field "extra" (run "interp" name [ ("verify", is); ("depth", `Int 5000) ]) in
      same (name ^ ", deep") json (field "nodes" deep) (`Int (6 * 10001));
      same (name ^ ", deep") json (field "deepest" deep) (`Int 5001);
      same name text (message (run "interp" name [ ("pause", `Int 7) ])) "pause is 7; give 0, 6 or 100")
    (encodings ())

let program () =
  same "bytes" string_of_int (String.length Program.text) 428;
  same "output" wide (Observe.fnv1a Program.output) 5476290587449551085L;
  (* Taken out of the repository there is no other program to agree with. *)
  if Array.length Sys.argv > 1 && Sys.file_exists Sys.argv.(1) then begin
    let file = open_in Sys.argv.(1) in
    same "the shared program" text Program.text (input_line file);
    close_in file
  end

(** The counts of an evaluator with a mistake. The output is right all the same, which is why it is not enough to look
    at it. *)
let flawed name request =
  Interp.variant name "with a mistake" (Interp.Promise request) (Interp.Promise request);
  let reply = run ~size:1 ~iterations:1 "interp" name [ ("verify", is); ("pause", `Int 6) ] in
  same name json (field "answer" reply) (`Intlit "1");
  (* What was swallowed still waits for its turn, and must not reach the next run. *)
  Lwt_main.run (Lwt.bind (Lwt.pause ()) Lwt.pause);
  field "extra" reply

let two_at_a_time () =
  let extra = flawed "two_at_a_time" Two_at_a_time.request in
  if field "order" extra = order then failwith "the order is right"

let swallowed () =
  List.iter
    (fun (name, request) ->
      let extra = flawed name request in
      if Yojson.Safe.Util.to_int (field "consumed_twice" extra) < 6 then failwith (name ^ ": " ^ json extra);
      (* What it would have given is computed a second time, when its turn comes. *)
      if field "nodes" extra = `Int 1804 then failwith (name ^ ": " ^ json extra))
    [ ("swallowed", Swallowed.request); ("swallowed_hidden", Swallowed_hidden.request) ]

let used_twice () =
  let extra = flawed "used_twice" Used_twice.request in
  if Yojson.Safe.Util.to_int (field "consumed_twice" extra) < 6 then failwith (json extra)

(** The output of another program, in every encoding. *)
let outputs source =
  let said value = match json (Value.to_json value) with text -> text | exception Failure why -> why in
  let parse table = Program.parse table source in
  let later request table = said (Lwt_main.run (request (parse table))) in
  [
    said (Sync.request (parse Value.functions));
    later Async.request Value.promised_functions;
    later Async.request Value.functions;
    later Union.request Value.functions;
    later Inlined.request Value.functions;
    later Hidden.request Value.functions;
  ]

let semantics () =
  let map body =
    Printf.sprintf {|["call","List::map",[["call","Int::range",[["int",1],["int",3]]],["lambda",["i"],%s]]]|} body
  in
  let error = ( ^ ) "a request's output is an error: " in
  let ones = map {|["int",1]|} in
  Value.every := 1L;
  List.iter
    (fun (source, right) ->
      List.iter (fun output -> same source text output right) (outputs source))
    [
      ({|["bin","Int::%",["int",7],["int",0]]|}, "0");
      ({|["bin","Int::%",["int",9223372036854775807],["int",4611686018427387904]]|}, "4611686018427387903");
      ({|["var","a"]|}, error "no variable a");
      ({|["call","Int::none",[]]|}, error "no function Int::none");
      (* The error of an argument is the call's, whether the function is there or not. *)
      ({|["call","Int::none",[["var","a"]]]|}, error "no variable a");
      ({|["if",["int",1],["int",2],["int",3]]|}, error "a condition must be a boolean");
      (* A binding alters no environment: the inner `a` is gone behind its body. *)
      ({|["let","a",["int",1],["let","b",["let","a",["int",2],["var","a"]],["var","a"]]]|}, "1");
      (* A lambda has the environment in which it was written. *)
      ( {|["let","a",["int",5],["let","f",["lambda",["i"],["var","a"]],["let","a",["int",6],["call","List::map",[["call","Int::range",[["int",1],["int",2]]],["var","f"]]]]]]|},
        "[5,5]" );
      (map {|["var","i"]|}, "[1,2,3]");
      (* The first error of a list is the map's. *)
      (map {|["if",["bin","Int::==",["var","i"],["int",1]],["int",0],["var","c"]]|}, error "no variable c");
      (map (map {|["bin","Int::%",["var","i"],["int",2]]|}), "[[1,0,1],[1,0,1],[1,0,1]]");
      ({|["bin","Int::%",["var","a"],["int",1]]|}, error "no variable a");
      ({|["bin","Int::%",["int",1],["var","a"]]|}, error "no variable a");
      (* What suspends may stand in every place. *)
      (Printf.sprintf {|["let","a",%s,["var","a"]]|} ones, "[1,1,1]");
      (Printf.sprintf {|["call","List::map",[%s,["lambda",["i"],["int",2]]]]|} ones, "[2,2,2]");
      (Printf.sprintf {|["bin","Int::%%",%s,["int",2]]|} ones, error "Int::% needs two integers");
      (Printf.sprintf {|["bin","Int::%%",["int",2],%s]|} ones, error "Int::% needs two integers");
      (Printf.sprintf {|["if",%s,["int",1],["int",2]]|} ones, error "a condition must be a boolean");
    ];
  Value.every := 0L

let wrong_output () =
  same "the difference" text
    (Interp.difference "[1,2,3]" "[1,3]")
    {|a request's output differs from byte 3 on: "2,3]", right is "3]" (7 bytes, right are 5)|};
  Interp.variant "wrong" "gives another value"
    (Interp.Value (fun _ -> Value.Int 1L))
    (Interp.Value (fun _ -> Value.Int 1L));
  let said = message (run "interp" "wrong" []) in
  let words = "a request's output differs from byte 0 on: \"1\"" in
  same "a wrong output" text (String.sub said 0 (String.length words)) words

(** This program as a probe with servers, whose standard input and output are pipes. One of its evaluators is wrong. *)
let probe () =
  Fanout.declare ();
  Interp.declare ();
  let wrong = Interp.Value (fun _ -> Value.Int 1L) in
  Interp.variant "wrong" "gives another value" wrong wrong;
  Serve.serve "ocaml" "0"

(** Has [use] ask such a probe. *)
let with_probe use =
  let environment = Array.append (Unix.environment ()) [| "TASKSCALE_TEST_PROBE=1" |] in
  let replies, requests, _ as channels =
    Unix.open_process_args_full Sys.executable_name [| Sys.executable_name |] environment
  in
  let ask line =
    output_string requests (line ^ "\n");
    flush requests;
    Yojson.Safe.from_string (input_line replies)
  in
  use ask;
  if Unix.close_process_full channels <> Unix.WEXITED 0 then failwith "the probe did not end with status 0"

let say ask fields = ask (json (`Assoc fields))

let served ?(params = []) ask name =
  let params = `Assoc (("mode", `String "http-open") :: params) in
  let asked = [ ("type", `String "run"); ("workload", `String "interp"); ("variant", `String name); ("params", params) ] in
  let numbers = List.map (fun (key, number) -> (key, `Int number)) [ ("id", 5); ("size", 3); ("iterations", 1); ("seed", 1) ] in
  say ask (asked @ numbers)

let told ask kind = say ask [ ("type", `String kind); ("id", `Int 5) ]

(** Has [use] make requests on one connection, which stays open; each gives its first line and its body. *)
let connected serving use =
  let port = Yojson.Safe.Util.to_int (field "port" serving) in
  let input, output = Unix.open_connection (Unix.ADDR_INET (Unix.inet_addr_loopback, port)) in
  let line () = String.trim (input_line input) in
  let get () =
    output_string output "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    flush output;
    let status = line () in
    let rec length known =
      match String.split_on_char ':' (String.lowercase_ascii (line ())) with
      | [ "" ] -> known
      | [ "content-length"; length_said ] -> length (int_of_string (String.trim length_said))
      | _ -> length known
    in
    let length = length (-1) in
    (status, really_input_string input length)
  in
  Fun.protect ~finally:(fun () -> Unix.close (Unix.descr_of_in_channel input)) (fun () -> use get)

let servers () =
  let response (status, body) = status ^ " " ^ body in
  with_probe (fun ask ->
      List.iter
        (fun (name, verify) ->
          let what = if verify then name ^ ", counted" else name in
          let serving = served ask name ~params:[ ("verify", `Bool verify); ("pause", `Int 6) ] in
          same what text (String.sub (json (field "server" serving)) 0 8) {|"cohttp |};
          connected serving (fun get ->
              let right = ("HTTP/1.1 200 OK", Program.output) in
              if not verify then same what response (get ()) right;
              same what json (told ask "begin") (`Assoc [ ("type", `String "began"); ("id", `Int 5) ]);
              for _ = 1 to 3 do same what response (get ()) right done;
              let sample = told ask "stop" in
              same what json (field "type" sample) (`String "sample");
              same what json (field "answer" sample) (`Int 3);
              if Yojson.Safe.Util.to_int (field "cpu_ns" sample) <= 0 then failwith (json sample);
              let extra = counts_of sample in
              if not (verify && name <> "constant") then same what json extra (`Assoc [])
              else begin
                List.iter (fun (key, right) -> same (what ^ key) json (field key extra) (`Int (3 * right))) counts;
                same what json (field "suspended" extra) (`Int 18);
                same what json (field "order" extra) order
              end))
        (List.concat_map (fun name -> [ (name, false); (name, true) ]) ("constant" :: encodings ())))

let lines_while_serving () =
  with_probe (fun ask ->
      let serving = served ask "constant" ~params:[ ("depth", `Int 3) ] in
      List.iter
        (fun line -> same line text (message (ask line)) "a server is running: say begin or stop")
        [ "hello"; "[]"; ""; {|{"type":"describe","protocol":1}|} ];
      ignore (told ask "begin");
      connected serving (fun get -> same "a body" text (snd (get ())) "1");
      same "a sample" json (field "answer" (told ask "stop")) (`Int 1);
      (* The next request is one like any other. *)
      let next = [ ("type", `String "run"); ("workload", `String "fanout"); ("variant", `String "map_p") ] in
      let numbers = List.map (fun key -> (key, `Int 3)) [ "id"; "size"; "iterations"; "seed" ] in
      same "the next" json (field "answer" (say ask (next @ numbers))) (`Int 279))

let wrong_response () =
  with_probe (fun ask ->
      let serving = served ask "wrong" in
      ignore (told ask "begin");
      let words = "a request's output differs from byte 0 on: \"1\"" in
      let begins what said = same what text (String.sub said 0 (String.length words)) words in
      connected serving (fun get ->
          let status, body = get () in
          same "status" text status "HTTP/1.1 500 Internal Server Error";
          begins "body" body);
      begins "the reply" (message (told ask "stop")))

(** In a build without a server, whose reason is in the environment where another one is meant than the usual. *)
let no_server () =
  let reason = Option.value (Sys.getenv_opt "NO_SERVER") ~default:"ocamlfind has no cohttp-lwt-unix" in
  let declared = List.assoc "interp" !Probe.workloads in
  let named name = List.find (fun one -> field "name" one = `String name) in
  let mode = named "mode" declared.params in
  same "choices" json (field "choices" mode) (`List [ `String "inproc" ]);
  let missing = field "http-closed" (field "unavailable" mode) in
  same "the other" json (field "http-open" (field "unavailable" mode)) missing;
  same "constant" json (field "unavailable" (named "constant" declared.variants)) missing;
  same "reason" json (field "reason" missing) (`String reason);
  same "remedy" json (field "remedy" missing)
    (`String "apt install libcohttp-lwt-unix-ocaml-dev, or opam install cohttp-lwt-unix");
  same "asked all the same" text (message (run "interp" "sync" [ ("mode", `String "http-open") ])) reason

let no_workers () =
  let declared = List.assoc "interp" !Probe.workloads in
  let workers = List.find (fun one -> field "name" one = `String "workers") declared.params in
  let missing = field "*" (field "unavailable" workers) in
  let reason = Interp.no_workers in
  same "reason" json (field "reason" missing) (`String reason);
  same "remedy" json (field "remedy" missing) (`String "name runtimes that have workers: --runtime go --runtime tokio");
  same "asked all the same" text (message (run "interp" "async" [ ("workers", `Int 1) ])) reason;
  same "none" json (field "answer" (run "interp" "async" [ ("workers", `Int 0) ])) (`Intlit "6")

let parked () =
  List.iter
    (fun (on, resident) ->
      let params = [ ("on", `String on); ("resident", `Bool resident); ("verify", is) ] in
      let reply = run ~size:50 "parked" "join" params in
      let extra = Yojson.Safe.Util.member "extra" reply in
      same on text (json (Yojson.Safe.Util.member "answer" reply)) "100";
      same "waiting" json (Yojson.Safe.Util.member "waiting" extra) (`Int 50);
      let told = Yojson.Safe.Util.member "resident_waiting" extra <> `Null in
      same "memory" string_of_bool told resident)
    [ ("event", false); ("timer", false); ("lock", false); ("event", true) ]

(** A task that does not wait has gone on before it is woken. *)
let early () =
  let start (state : Parked.state) size =
    let tasks, wake = Parked.event state size in
    (Parked.wait state (fun () -> Lwt.return_unit) () :: tasks, wake)
  in
  let params = [ ("resident", `Bool false) ] in
  let asked : Run.t = { id = 1; size = 5; iterations = 1; seed = 1; verify = true; phases = false; counters = None; params } in
  match Parked.perform start asked with
  | _ -> failwith "nothing was found"
  | exception Failure said -> same "said" text said "6 of 5 tasks waited, and 1 went on before they were woken"

let blocking () =
  let member = Yojson.Safe.Util.member and to_int = Yojson.Safe.Util.to_int in
  List.iter
    (fun (name, right) ->
      let reply = run ~size:9 "blocking" name [ ("block_us", `Int 2_000); ("every", `Int 4) ] in
      let extra = member "extra" reply in
      same name text (json (member "answer" reply)) "18";
      same name json (member "blocked" extra) (`Int right);
      let told what = to_int (member ("wait_" ^ what ^ "_ns") extra) in
      let ascend = 0 < told "p50" && told "p50" <= told "p99" && told "p99" <= told "max" in
      same (json extra) string_of_bool ascend true;
      (* Each iteration lasts at least as long as one call. *)
      same (json reply) string_of_bool (right = 0 || to_int (member "wall_ns" reply) >= 2 * 2_000_000) true)
    [ ("without", 0); ("inline", 6); ("Lwt_preemptive.detach", 6); ("Lwt_unix.sleep", 6) ]

let cancel () =
  List.iter
    (fun (way, on, first) ->
      let reply = run ~size:50 "cancel" way [ ("on", `String on); ("first", `String first) ] in
      same (way ^ ", " ^ on ^ ", " ^ first) text (json (Yojson.Safe.Util.member "answer" reply)) "100")
    (List.concat_map
       (fun on -> [ ("Lwt.cancel", on, "oldest"); ("Lwt.cancel", on, "newest"); ("Lwt.pick", on, "oldest") ])
       [ "event"; "timer"; "lock" ])
(** These ways give the whole answer of 51 tasks, twice: few of these numbers divide it, and 60 leave some without. *)
let whole workload param numbers names =
  let one name number =
    let answer = field "answer" (run ~size:51 workload name [ (param, `Int number) ]) in
    same (Printf.sprintf "%s, %d" name number) text (json answer) "102"
  in
  List.iter (fun name -> List.iter (one name) numbers) names

let pingpong () = whole "pingpong" "pairs" [ 1; 4; 60 ] [ "Lwt_mvar"; "wait"; "pause" ]

let remote () =
  whole "remote" "producers" [ 1; 4; 64 ] [ "send_notification"; "run_in_main"; "pause/local" ];
  let said = message (run "remote" "run_in_main" [ ("producers", `Int 65) ]) in
  same "too many" text said "producers is 65; give 1 to 64"

let context () =
  whole "context" "variables" [ 0; 1; 8 ] [ "with_value" ];
  let said = message (run "context" "with_value" [ ("variables", `Int 3) ]) in
  same "another number" text said "variables is 3; give 0, 1 or 8"

let idle () =
  List.iter
    (fun (rate, size) ->
      let reply = run ~size "idle" "Lwt_unix.sleep" [ ("rate", `Int rate) ] in
      same (json reply) text (json (field "answer" reply)) (string_of_int (2 * size));
      let wall = Yojson.Safe.Util.to_int (field "wall_ns" reply) in
      same (json reply) string_of_bool (wall >= 2_000_000 * size) true)
    [ (1000, 20); (100, 20); (10, 100) ];
  let said rate = message (run "idle" "Lwt_unix.sleep" [ ("rate", `Int rate) ]) in
  same "another rate" text (said 50) "rate is 50; give 1, 10, 100 or 1000";
  same "an odd size" text (said 100) "in 3 ms no whole number of tasks arrives at 100 a second"

let () =
  if Sys.getenv_opt "TASKSCALE_TEST_PROBE" <> None then begin
    probe ();
    exit 0
  end;
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
  test "the kernel is the published one" spin;
  test "every form of fanout does every task once, within its window" fanout;
  test "every form of nop does every task once, in batches" nop;
  test "with the collector off nothing is collected" collector_off;
  test "a collection with the collector off is found" collected;
  test "all that park wait at once, and are woken" parked;
  test "a task that does not wait is found" early;
  test "every call blocks, and waits are told" blocking;
  test "all that wait are cancelled" cancel;
  test "every token comes back" pingpong;
  test "every task from outside runs" remote;
  test "each thread has its own values" context;
  test "every thread arrives at its time" idle;
  Bytes_tests.all test;
  test "lost tasks and results in the wrong place are found" mistakes;
  test "what cannot be done is an error that says what can" protocol;
  test "the program and its output are those of all languages" program;
  test "every encoding counts what is right" interp;
  (match Over_http.unavailable with
  | None ->
      test "a server answers the right bytes, and counts those since begin" servers;
      test "another line is refused, and the server goes on" lines_while_serving;
      test "a wrong output is told in the response and at the end" wrong_response
  | Some _ ->
      test "without cohttp the modes are named with reason and remedy" (no_server));
  test "requests are not shared, with reason and remedy" no_workers;
  test "what is set up untimed is made anew and told beside" set_up;
  test "semantics are the same in every encoding" semantics;
  test "a wrong output is an error that says where" wrong_output;
  test "two elements at a time are seen in the order" two_at_a_time;
  test "a pending value that is swallowed is seen" swallowed;
  test "a pending value that is used twice is seen" used_twice;
  exit (if !failures > 0 then 1 else 0)
