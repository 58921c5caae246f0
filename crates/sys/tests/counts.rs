//! Counts for a program whose number of allocations and system calls is known.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "what could not be tested must be told")]

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};

use taskscale_model::run_file::Allocations;
use taskscale_sys::{
    clock::monotonic_ns,
    counts::{
        Wanted,
        allocations::{Page, SOURCE, VARIABLE},
    },
    process::{Child, Command},
};

const PATIENCE_NS: u64 = 60_000_000_000;

/// Builds the shim and the program once. Returns `None` without a C compiler, and prints that
/// nothing was tested.
fn built() -> Option<&'static (PathBuf, PathBuf)> {
    static BUILT: OnceLock<Option<(PathBuf, PathBuf)>> = OnceLock::new();
    let build = || {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        // Two runs of the tests may do this at the same time: each writes files of its own, which
        // take their names once they are whole.
        let own = |path: &Path| path.with_extension(std::process::id().to_string());
        let source = folder.join(format!("shim-{}.c", std::process::id()));
        std::fs::write(&source, SOURCE).expect("written");
        let (shim, program) = (folder.join("shim.so"), folder.join("allocations"));
        let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/allocations.c");
        let cc = |args: &[&str], from: &Path, to: &Path| {
            let mut command = std::process::Command::new("cc");
            let command = command.args(args).arg(from).arg("-o").arg(own(to)).args(["-ldl", "-pthread"]);
            match command.output() {
                Ok(output) => {
                    let words = String::from_utf8_lossy(&output.stderr);
                    assert!(output.status.success() && words.is_empty(), "{words}");
                    std::fs::rename(own(to), to).expect("renamed");
                    true
                }
                Err(error) => {
                    eprintln!("no C compiler, so nothing is tested: {error}");
                    false
                }
            }
        };
        let flags = [
            "-std=c11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-fPIC",
            "-shared",
            "-fvisibility=hidden",
            "-fno-builtin",
        ];
        let is_built = cc(&flags, &source, &shim) && cc(&["-O2", "-Wall"], &known, &program);
        std::fs::remove_file(source).expect("removed");
        is_built.then_some((shim, program))
    };
    BUILT.get_or_init(build).as_ref()
}

/// Makes a child do its work twice, and reads before and after the second time.
fn second_go<T>(mut child: Child, read: impl Fn() -> T) -> (T, T) {
    let mut go = || {
        let deadline_ns = monotonic_ns() + PATIENCE_NS;
        child.send_line(b"go", deadline_ns).expect("sent");
        assert_eq!(child.read_line(deadline_ns).expect("an answer"), b"done");
    };
    go();
    let before = read();
    go();
    (before, read())
}

/// Runs `program MODE N THREADS` under the shim, and reads before and after its second go.
fn with_shim(args: &[&str], page: &Page) -> Option<(Allocations, Allocations)> {
    let (shim, program) = built()?;
    let mut command = Command::new(program.to_string_lossy(), args.iter().copied());
    command.env.push(("LD_PRELOAD".into(), shim.to_string_lossy().into_owned()));
    command.env.push((VARIABLE.into(), page.path().to_string_lossy().into_owned()));
    let child = Child::spawn(&command).expect("it starts");
    Some(second_go(child, || page.read().expect("read").expect("the shim was loaded")))
}

fn allocations(args: &[&str], slots: u32) -> Option<Allocations> {
    let page = Page::with_slots(slots).expect("a file");
    let (before, after) = with_shim(args, &page)?;
    Some(after.since(&before))
}

fn turns(n: u64) -> Allocations {
    Allocations { malloc: n, calloc: n, realloc: n, aligned: 4 * n, free: 6 * n, bytes: 471 * n }
}

#[test]
fn every_call_of_a_thread_is_counted_and_no_other() {
    let Some(counted) = allocations(&["turns", "12345"], 8) else { return };
    assert_eq!(counted, turns(12_345));
}

/// Returns what `threads` itself asks for, beside what its threads do: the array of their ids, and
/// what the C library needs for a thread.
fn beyond(counted: Allocations, turns: Allocations) -> Allocations {
    counted.since(&turns)
}

#[test]
fn threads_with_a_slot_each_lose_nothing() {
    let Some(counted) = allocations(&["together", "1000", "32"], 64) else { return };
    let rest = beyond(counted, turns(32_000));
    assert_eq!((rest.realloc, rest.aligned, rest.malloc), (0, 0, 1), "{rest:?}");
}

#[test]
fn more_threads_than_slots_lose_nothing() {
    // 31 of the 32 threads meet in the common slot.
    let Some(counted) = allocations(&["together", "20000", "32"], 2) else { return };
    let rest = beyond(counted, turns(640_000));
    assert_eq!((rest.realloc, rest.aligned, rest.malloc), (0, 0, 1), "{rest:?}");
}

#[test]
fn slots_of_threads_that_ended_are_used_again() {
    let page = Page::with_slots(4).expect("a file");
    let Some((before, after)) = with_shim(&["one-by-one", "3", "2000"], &page) else { return };
    let rest = beyond(after.since(&before), turns(6_000));
    assert_eq!((rest.realloc, rest.aligned, rest.malloc), (0, 0, 1), "{rest:?}");
    // If no slot were given back, the third thread and all later ones would count in the common
    // slot, the first after the header.
    let bytes = std::fs::read(page.path()).expect("the file");
    let common = u64::from_ne_bytes(bytes[64..72].try_into().expect("eight bytes"));
    assert_eq!(common, 0, "the common slot was used");
}

#[test]
fn a_forked_process_counts_beside_its_parent() {
    let page = Page::with_slots(8).expect("a file");
    let Some((before, after)) = with_shim(&["fork", "5000"], &page) else { return };
    let rest = beyond(after.since(&before), turns(10_000));
    assert_eq!((rest.realloc, rest.aligned), (0, 0), "{rest:?}");
    // The children count in a slot of their own, beside that of their parent: 5,000 calls in each
    // go.
    let bytes = std::fs::read(page.path()).expect("the file");
    let malloc_of =
        |slot: usize| u64::from_ne_bytes(bytes[slot * 64..][..8].try_into().expect("eight bytes"));
    assert!(malloc_of(2) >= 10_000 && malloc_of(3) + malloc_of(4) >= 10_000, "written by two");
}

#[test]
fn a_program_that_does_not_load_the_shim_is_told_from_one_that_allocates_nothing() {
    let page = Page::create().expect("a file");
    // The child has the variable alone, without the library.
    let Some((_, program)) = built() else { return };
    let child = Child::spawn(&Command::new(program.to_string_lossy(), ["turns", "10"])).expect("it starts");
    let (_, after) = second_go(child, || page.read().expect("read"));
    assert_eq!(after, None);
}

#[test]
fn system_calls_are_counted_or_the_reason_is_told() {
    let Some((_, program)) = built() else { return };
    let command = Command::new(program.to_string_lossy(), ["calls", "100000"]);
    let wanted = Wanted { syscalls: true, ..Wanted::default() };
    let (child, counters) = Child::spawn_wanted(&command, wanted).expect("it starts");
    let counter = match counters.syscalls.expect("it was wanted") {
        Ok(counter) => counter,
        Err(missing) => {
            assert!(!missing.reason.is_empty() && !missing.remedy.is_empty(), "{missing}");
            eprintln!("system calls cannot be counted here, so nothing is tested: {missing}");
            return;
        }
    };
    let (before, after) = second_go(child, || counter.read().expect("read"));
    // The process also writes the answer and waits for the next line. At each reading that may have
    // begun or not.
    assert!((100_001..=100_003).contains(&(after - before)), "{}", after - before);
}
