(** What stands in the place of the client where the build found none. *)

(** Why it found none. *)
let found : (unit, string) result = Error Absent.reason

let to_string _address = Lwt.fail_with Absent.reason
let iter _take _address = Lwt.fail_with Absent.reason
