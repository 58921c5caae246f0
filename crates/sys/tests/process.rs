//! Real child processes: every way in which a probe can answer or fail. `tree.rs` tests what stays
//! behind.

use std::path::Path;

use taskscale_sys::clock::monotonic_ns;
use taskscale_sys::process::{Child, Command, Exit, IoProblem, LINE_LIMIT};

/// Time limit: far more than any of these children needs, and less than a test runner's patience.
const PLENTY_NS: u64 = 30_000_000_000;
/// Time limit of waits that must run out.
const SHORT_NS: u64 = 20_000_000;

fn sh(script: &str) -> Child {
    Child::spawn(&Command::new("/bin/sh", ["-c", script])).expect("/bin/sh starts")
}

fn python(script: &str) -> Child {
    Child::spawn(&Command::new("python3", ["-c", script])).expect("python3 starts")
}

fn within(ns: u64) -> u64 {
    monotonic_ns() + ns
}

/// Tells whether not even a zombie is left.
fn is_gone(pid: u32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

fn closed(exit: Exit) -> IoProblem {
    IoProblem::Closed { exit: Some(exit) }
}

#[test]
fn lines_go_out_and_come_back_in_order() {
    let mut child = Child::spawn(&Command::new("cat", [""; 0])).expect("cat starts");
    for text in ["one", "", "\u{e9}t\u{e9}", "last"] {
        child.send_line(text.as_bytes(), within(PLENTY_NS)).expect("sent");
    }
    for text in ["one", "", "\u{e9}t\u{e9}", "last"] {
        assert_eq!(child.read_line(within(PLENTY_NS)).expect("came back"), text.as_bytes());
    }
    assert!(!child.pending_output().expect("asked"));
    assert_eq!(child.end(PLENTY_NS), Some(Exit::Code(0)));
    assert!(is_gone(child.pid()));
}

#[test]
fn a_line_larger_than_any_pipe_goes_both_ways() {
    let mut child = python("import sys\nfor line in sys.stdin: sys.stdout.write(line); sys.stdout.flush()");
    let line = vec![b'x'; LINE_LIMIT];
    child.send_line(&line, within(PLENTY_NS)).expect("sent");
    assert!(child.read_line(within(PLENTY_NS)).expect("came back") == line);
}

#[test]
fn a_line_in_pieces_is_one_line() {
    let mut child = sh("printf one; read go; printf two; read go; printf '\\nthree\\n'");
    for problem in ["the first piece is no line", "nor are two"] {
        assert_eq!(child.read_line(within(SHORT_NS)).expect_err(problem), IoProblem::TimedOut);
        child.send_line(b"go", within(PLENTY_NS)).expect("sent");
    }
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("whole"), b"onetwo");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("the rest"), b"three");
}

#[test]
fn a_hanging_child_times_out_and_is_killed() {
    let mut child = sh("sleep 1000");
    let deadline = within(SHORT_NS);
    assert_eq!(child.read_line(deadline), Err(IoProblem::TimedOut));
    assert!(monotonic_ns() >= deadline, "it did not wait");
    assert_eq!(child.kill_tree(), [0u32; 0]);
    assert_eq!(child.exit().expect("known"), Some(Exit::Signal(libc::SIGKILL)));
    assert!(is_gone(child.pid()));
}

#[test]
fn one_that_never_reads_times_out_too() {
    let mut child = sh("sleep 1000");
    // The line is four times what a pipe holds.
    assert_eq!(child.send_line(&vec![b'x'; 256 * 1024], within(SHORT_NS)), Err(IoProblem::TimedOut));
}

#[test]
fn the_way_it_ended_is_told() {
    for (script, exit, words) in [
        ("exit 3", Exit::Code(3), "the process ended: exit status 3"),
        ("kill -SEGV $$", Exit::Signal(libc::SIGSEGV), "the process ended: killed by signal 11 (SIGSEGV)"),
    ] {
        let problem = sh(script).read_line(within(PLENTY_NS)).expect_err("it ends");
        assert_eq!(problem, closed(exit));
        assert_eq!(problem.to_string(), words);
    }
}

#[test]
fn what_was_said_before_the_end_is_heard() {
    let mut child = sh("echo said; printf cut; echo why >&2; exit 4");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("a line"), b"said");
    assert_eq!(child.read_line(within(PLENTY_NS)), Err(closed(Exit::Code(4))));
    assert_eq!(child.stderr_tail(), "why");
    // The answer is the same after the end, and after a second one.
    assert_eq!((child.end(0), child.end(0)), (Some(Exit::Code(4)), Some(Exit::Code(4))));
    assert_eq!(child.stderr_tail(), "why");
}

#[test]
fn writing_to_one_that_ended_is_closed_and_no_signal_to_us() {
    let mut child = sh("echo ready; exec <&-; echo deaf >&2; exit 5");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("ready"), b"ready");
    let problem = loop {
        // Some bytes fit in until the pipe is closed.
        if let Err(problem) = child.send_line(&[b'x'; 1024], within(PLENTY_NS)) {
            break problem;
        }
    };
    assert_eq!(problem, closed(Exit::Code(5)));
    assert_eq!(child.stderr_tail(), "deaf");
}

#[test]
fn one_that_closes_its_output_but_lives_is_closed_without_an_exit() {
    let mut child = sh("exec >&-; sleep 1000");
    assert_eq!(child.read_line(within(PLENTY_NS)), Err(IoProblem::Closed { exit: None }));
    assert_eq!(child.end(0), None);
}

#[test]
fn a_grandchild_that_holds_the_pipes_does_not_hold_us() {
    let mut child = sh("sleep 1000 & exit 6");
    assert_eq!(child.read_line(within(PLENTY_NS)), Err(closed(Exit::Code(6))));
    let mut child = sh("exec 3<&0; sleep 1000 & exit 7");
    assert_eq!(child.send_line(&vec![b'x'; 256 * 1024], within(PLENTY_NS)), Err(closed(Exit::Code(7))));
}

#[test]
fn an_endless_line_is_too_long() {
    let mut child = sh("while :; do printf '%01024d' 7; done");
    assert_eq!(child.read_line(within(PLENTY_NS)), Err(IoProblem::TooLong));
}

#[test]
fn a_flood_on_stderr_is_stopped_and_its_end_is_kept() {
    let mut child = sh("yes flooding >&2");
    assert_eq!(child.read_line(within(PLENTY_NS)), Err(IoProblem::Flood { stream: "stderr" }));
    assert!(child.stderr_bytes() > 64 << 20);
    assert!(child.stderr_tail().ends_with("flooding\nflooding"), "{}", child.stderr_tail());
    assert!(child.stderr_tail().len() <= 4096);
}

#[test]
fn a_flood_of_lines_is_stopped() {
    let mut child = python("while True: print('x' * 100_000)");
    // 672 such lines are 64 MiB.
    let problem = (0..1_000).find_map(|_| child.read_line(within(PLENTY_NS)).err());
    assert_eq!(problem, Some(IoProblem::Flood { stream: "stdout" }));
}

#[test]
fn a_log_larger_than_the_pipe_does_not_block_an_answer() {
    let mut child =
        sh("head -c 1000000 /dev/zero >&2; echo done; read go; head -c 1000000 /dev/zero >&2; cat");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("answers"), b"done");
    assert_eq!(child.stderr_bytes(), 1_000_000);
    // The line is more than the pipe holds, and the child must first be rid of its log.
    child.send_line(b"go", within(PLENTY_NS)).expect("sent");
    child.send_line(&vec![b'x'; 100_000], within(PLENTY_NS)).expect("sent");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("answers").len(), 100_000);
}

#[test]
fn speaking_out_of_turn_is_seen() {
    let mut child = sh("read go; echo answer; echo more; read go");
    assert!(!child.pending_output().expect("asked"));
    child.send_line(b"go", within(PLENTY_NS)).expect("sent");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("answers"), b"answer");
    while !child.pending_output().expect("asked") {
        std::thread::yield_now();
    }
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("it stays readable"), b"more");
    assert!(!child.pending_output().expect("asked"));
}

#[test]
fn the_end_is_waited_for_even_if_it_is_noisy() {
    let mut child = sh("cat >/dev/null; head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; exit 9");
    assert_eq!(child.end(PLENTY_NS), Some(Exit::Code(9)));
}

#[test]
fn the_environment_and_the_directory_are_as_asked_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = Command::new("/bin/sh", ["-c", "echo \"$PADDING|$HOME|$TASKSCALE_PROBE_COOKIE|$PWD\""]);
    command.env = vec![("PADDING".into(), "xxxx".into())];
    command.env_remove = vec!["HOME".into()];
    command.directory = Some(directory.path().into());
    let mut lines = [(); 2].map(|()| {
        let mut child = Child::spawn(&command).expect("starts");
        String::from_utf8(child.read_line(within(PLENTY_NS)).expect("a line")).expect("text")
    });
    lines.sort();
    assert_ne!(lines[0], lines[1], "each has a cookie of its own");
    let fields: Vec<&str> = lines[0].split('|').collect();
    let path = directory.path().canonicalize().expect("exists");
    assert_eq!(
        (fields[0], fields[1], fields[2].len(), Path::new(fields[3])),
        ("xxxx", "", 32, path.as_path())
    );
}

#[cfg(target_os = "linux")]
#[test]
fn no_descriptor_of_ours_is_inherited() {
    use std::os::fd::AsRawFd;
    let file = tempfile::tempfile().expect("a file");
    // The descriptor is not close-on-exec, as a shell hands them down. SAFETY: plain integers; the
    // descriptor is open.
    #[allow(unsafe_code)]
    let leaked = unsafe { libc::dup(file.as_raw_fd()) };
    let script = format!("[ -e /proc/self/fd/{leaked} ] && echo inherited || echo clean");
    let control = std::process::Command::new("/bin/sh").args(["-c", &script]).output().expect("runs");
    assert_eq!(control.stdout, b"inherited\n", "the control must inherit it");
    assert_eq!(sh(&script).read_line(within(PLENTY_NS)).expect("a line"), b"clean");
    // SAFETY: it is ours and not used again.
    #[allow(unsafe_code)]
    unsafe {
        libc::close(leaked)
    };
}

#[cfg(target_os = "linux")]
#[test]
fn its_cpu_time_can_be_read() {
    let mut child = python("print(sum(range(100_000)), flush=True); input(); print(1, flush=True); input()");
    child.read_line(within(PLENTY_NS)).expect("a sum");
    let cpu = child.cpu_ns().expect("a clock");
    assert!(cpu > 0);
    child.send_line(b"", within(PLENTY_NS)).expect("sent");
    child.read_line(within(PLENTY_NS)).expect("one");
    assert!(child.cpu_ns().expect("a clock") > cpu);
    child.kill_tree();
    assert!(child.cpu_ns().is_err());
}

#[test]
fn a_stop_that_is_over_is_told_once() {
    let mut child = sh("read go; (sleep 0.05; kill -CONT $$) & kill -STOP $$; wait; echo back; read go");
    assert!(!child.was_stopped());
    child.send_line(b"go", within(PLENTY_NS)).expect("sent");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("it was continued"), b"back");
    assert!(child.was_stopped() && !child.was_stopped());
    child.send_line(b"go", within(PLENTY_NS)).expect("sent");
    assert_eq!(child.end(PLENTY_NS), Some(Exit::Code(0)), "asking took nothing of how it ended");
}

#[test]
fn a_stop_of_this_process_is_counted_when_it_goes_on() {
    let before = taskscale_sys::clock::continued();
    let mut child = sh("kill -CONT $PPID; echo done");
    assert_eq!(child.read_line(within(PLENTY_NS)).expect("a line"), b"done");
    // The kernel hands the signal to a thread of its choice, which a busy machine lets wait.
    let until = within(PLENTY_NS);
    while taskscale_sys::clock::continued() == before {
        assert!(taskscale_sys::clock::monotonic_ns() < until, "it was sent and is not counted");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_machine_that_is_awake_does_not_sleep_meanwhile() {
    let before = taskscale_sys::clock::slept_ns();
    let longest = (0..100).map(|_| taskscale_sys::clock::slept_ns().saturating_sub(before)).max();
    assert!(longest < Some(1_000_000_000), "{longest:?}");
}
