(** The programs: the one that all languages share, and nested lets of any depth. *)

open Value

(** [probes/interp/program.json], which lies outside what is carried of this probe. *)
let text =
  {|["let","range",["call","Int::range",[["int",1],["int",100]]],|}
  ^ {|["call","List::map",[["var","range"],["lambda",["i"],|}
  ^ {|["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],|}
  ^ {|["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],|}
  ^ {|["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],|}
  ^ {|["call","Int::toString",[["var","i"]]]]]]]]]]|}

(** The tree of a program in JSON, whose calls mean the functions of [table]. With [linked] it holds them. *)
let parse ?(linked = false) table text =
  let callee name = { name; table; linked = (if linked then Hashtbl.find_opt table name else None) } in
  let rec node (json : Yojson.Safe.t) =
    match json with
    | `List [ `String "int"; `Int integer ] -> Literal (Int (Int64.of_int integer))
    | `List [ `String "int"; `Intlit integer ] -> Literal (Int (Int64.of_string integer))
    | `List [ `String "str"; `String text ] -> Literal (Str text)
    | `List [ `String "var"; `String name ] -> Var name
    | `List [ `String "let"; `String name; value; body ] -> Let { name; value = node value; body = node body }
    | `List [ `String "bin"; `String name; left; right ] ->
        Bin { callee = callee name; left = node left; right = node right }
    | `List [ `String "call"; `String name; `List arguments ] ->
        Call { callee = callee name; arguments = List.map node arguments }
    | `List [ `String "lambda"; `List params; body ] ->
        Lambda { params = List.map Yojson.Safe.Util.to_string params; body = node body }
    | `List [ `String "if"; condition; consequent; alternative ] ->
        If { condition = node condition; consequent = node consequent; alternative = node alternative }
    | _ -> failwith ("no node of a program: " ^ Yojson.Safe.to_string json)
  in
  node (Yojson.Safe.from_string text)

(** [let x0 = 1 in let x1 = x0 in .. x_last], made from the inside out. *)
let nested depth =
  let var i = Var (Printf.sprintf "x%d" i) in
  let rec around i body =
    if i < 0 then body
    else
      let value = if i = 0 then Literal (Int 1L) else var (i - 1) in
      around (i - 1) (Let { name = Printf.sprintf "x%d" i; value; body })
  in
  around (depth - 1) (var (depth - 1))

(** The right output of the program, by its definition. *)
let output =
  let word i =
    match (i mod 15, i mod 5, i mod 3) with
    | 0, _, _ -> "fizzbuzz"
    | _, 0, _ -> "buzz"
    | _, _, 0 -> "fizz"
    | _ -> string_of_int i
  in
  "[" ^ String.concat "," (List.init 100 (fun i -> Printf.sprintf "%S" (word (i + 1)))) ^ "]"
