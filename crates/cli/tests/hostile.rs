//! `taskscale digest` on input made to hurt: it ends, in bounded memory, and says what was wrong.
//! Larger sizes run by `cargo run --release -p taskscale-experiments --bin hostile`.

use std::path::Path;

use taskscale_testkit::hostile::{CASES, Sizes, run};

/// The sizes pass every table's end: 65,536 workers and open begins, 4 MiB of one event.
const SIZES: Sizes = Sizes { line: 5_000_000, brackets: 200_000, count: 67_000, begins: 300_000 };

#[test]
fn it_ends_in_bounded_memory_and_says_what_was_wrong() {
    let binary = Path::new(env!("CARGO_BIN_EXE_taskscale"));
    let once = || {
        run(binary, &SIZES, |_, out| {
            out.write_all(br#"[{"name":"a","ph":"X","pid":1,"tid":0,"ts":5,"dur":1}]"#)
        })
        .expect("runs")
    };
    // The peak is polled, and a process that ends at once may be seen before it has its pages. The
    // test takes the largest of five.
    let one = (0..5).map(|_| once()).max_by_key(|one| one.peak_rss).expect("five");
    assert_eq!(one.status, Some(0), "{one:?}");
    let mut problems = Vec::new();
    for case in &CASES {
        let ended = run(binary, &SIZES, case.feed).expect("runs");
        if ended.status != Some(case.status) {
            problems.push(format!("{}: exit {:?}, not {}: {ended:?}", case.name, ended.status, case.status));
        }
        let all = format!("{}\n{}", ended.out, ended.err);
        for words in case.says.iter().filter(|words| !all.contains(**words)) {
            problems.push(format!("{}: does not say {words:?}: {all}", case.name));
        }
        if all.contains("panicked") || ended.out.len() > 2_048 {
            problems.push(format!("{}: {all}", case.name));
        }
        // A process that gives up at once may have ended before it was looked at.
        if ended.status == Some(0) && ended.peak_rss.is_none() && Path::new("/proc/self/status").exists() {
            problems.push(format!("{}: memory was not measured", case.name));
        }
        if let (Some(one), Some(peak)) = (one.peak_rss, ended.peak_rss)
            && peak > one + (case.mb << 20)
        {
            problems.push(format!("{}: {} kB resident, {} with one event", case.name, peak >> 10, one >> 10));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
