(** What stands in the place of the server where the build found none. *)

(** Why it found none. *)
let found : (string, string) result = Error Absent.reason

let serve _socket ~stop:_ _answer = Lwt.fail_with Absent.reason
