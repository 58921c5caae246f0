//! Families of real processes: nothing that a probe starts stays behind.
#![cfg(target_os = "linux")]

mod family;

use family::{PLENTY_NS, family, is_gone, python, sh};
use taskscale_sys::clock::monotonic_ns;
use taskscale_sys::process::Exit;

/// The group lets Ctrl-C reach the tool alone, and one signal reach whatever the probe forks.
#[test]
fn a_probe_has_a_group_of_its_own() {
    let mut child = python("import os; print(os.getpgrp() == os.getpid())");
    assert_eq!(child.read_line(monotonic_ns() + PLENTY_NS).expect("a line"), b"True");
}

const DAEMON: &str = "
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def note():
    with open('PIDS', 'a') as file: file.write('%d\\n' % os.getpid())
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        note()
        time.sleep(1000)
    os._exit(0)
os.wait()
note()
";

#[test]
fn a_daemon_does_not_survive() {
    let (mut child, pids, _directory) = family(python, &format!("{DAEMON}time.sleep(1000)"), 2);
    assert_eq!(child.kill_tree(), [0u32; 0]);
    for pid in pids {
        assert!(is_gone(pid), "{pid} is still there");
    }
}

#[test]
fn a_daemon_of_one_that_ended_well_does_not_survive() {
    let (mut child, pids, _directory) = family(python, DAEMON, 2);
    assert_eq!(child.end(PLENTY_NS), Some(Exit::Code(0)));
    for pid in pids {
        assert!(is_gone(pid), "{pid} is still there");
    }
}

/// An init that does not reap, as in many containers, would keep its zombie for ever; so the zombie
/// comes to us.
#[test]
fn a_daemon_that_ended_by_itself_leaves_no_zombie() {
    let script = "
import os
if os.fork() == 0:
    os.setsid()
    parent = os.getpid()
    if os.fork() == 0:
        while os.getppid() == parent: pass
        with open('PIDS', 'a') as file: file.write('%d\\n' % os.getpid())
    os._exit(0)
os.wait()
input()
";
    let (mut child, pids, _directory) = family(python, script, 1);
    let status = || std::fs::read_to_string(format!("/proc/{}/stat", pids[0])).unwrap_or_default();
    // The status is empty where the end of another test's child, in the same process, has reaped
    // it.
    while !status().is_empty() && !status().contains(") Z ") {
        std::thread::yield_now();
    }
    assert_eq!(child.kill_tree(), [0u32; 0]);
    assert!(is_gone(pids[0]), "{}", status());
}

/// Another probe's daemon is not ours to end.
#[test]
fn the_neighbours_daemon_survives() {
    let (mut neighbour, pids, _directory) = family(python, &format!("{DAEMON}time.sleep(1000)"), 2);
    sh("exit 0").end(PLENTY_NS);
    for pid in &pids {
        assert!(!is_gone(*pid), "{pid} was ended");
    }
    assert_eq!(neighbour.kill_tree(), [0u32; 0]);
}

/// The family forks and ends, again and again, faster than the process table can be read. The group
/// catches them all.
#[test]
fn a_family_that_runs_away_is_caught() {
    let script = "
import os, time
open('PIDS', 'a').write('%d\\n' % os.getpid())
# It must end by itself where the code under test fails: a chain like this without an end once took the machine.
deadline = time.monotonic() + 20
while time.monotonic() < deadline:
    if os.fork(): os._exit(0)
    with open('PIDS.alive', 'w') as file: file.write('x')
";
    let (mut child, _pids, directory) = family(python, script, 1);
    assert_eq!(child.kill_tree(), [0u32; 0]);
    // A process that is left would write the file again.
    let alive = directory.path().join("pids.alive");
    let _ = std::fs::remove_file(&alive);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(!alive.exists(), "it got away");
    for entry in std::fs::read_dir("/proc").expect("a /proc").flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // The fields after the name are state, parent, group.
        let group = stat.rsplit(')').next().and_then(|fields| fields.split_ascii_whitespace().nth(2));
        assert_ne!(group, Some(child.pid().to_string().as_str()), "a zombie is left: {stat}");
    }
}

#[test]
fn nothing_survives_the_thread_that_started_it() {
    let child =
        std::thread::spawn(|| std::mem::ManuallyDrop::new(sh("sleep 1000"))).join().expect("no panic");
    let deadline = monotonic_ns() + PLENTY_NS;
    while child.exit().expect("our child").is_none() {
        assert!(monotonic_ns() < deadline, "it outlives its thread");
        std::thread::yield_now();
    }
    drop(std::mem::ManuallyDrop::into_inner(child));
}
