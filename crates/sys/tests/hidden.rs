//! A descendant that carries no mark. The test is alone in its process: the end of any other child
//! takes such an orphan along, as nobody can tell whose it is.
#![cfg(target_os = "linux")]

mod family;

use family::{family, is_gone, sh};

#[test]
fn one_that_hides_its_environment_does_not_survive() {
    let hidden = "env -i setsid sh -c 'echo $$ >>PIDS; exec sleep 1000' &";
    for rest in ["echo $$ >>PIDS; wait", "echo $$ >>PIDS; exit 0"] {
        let (child, pids, _directory) = family(sh, &format!("{hidden} {rest}"), 2);
        drop(child);
        for pid in pids {
            assert!(is_gone(pid), "{pid} is still there");
        }
    }
}
