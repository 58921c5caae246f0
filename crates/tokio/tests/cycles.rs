//! Attaching and detaching leaves no memory behind. This test is alone in its program because it
//! looks at the whole process.
#![cfg(target_os = "linux")]

use std::fs;

use taskscale_tokio::observe;
use tokio::runtime::Builder;

/// Memory that may come and go by itself: free lists, stacks of threads that have ended.
const SLACK: usize = 3 << 20;

/// The process's resident memory, in bytes. A page has at least 4 KB.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux");
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages") * 4_096
}

fn cycles(builder: &mut Builder, times: usize) {
    for cycle in 0..times {
        let (rt, live) = observe(builder).build().expect("a runtime");
        rt.block_on(async { tokio::spawn(async {}).await.expect("no panic") });
        drop(rt);
        if cycle % 100 == 0 {
            assert_eq!(live.digest().tasks, u64::from(cfg!(tokio_unstable)));
        }
    }
}

#[test]
fn a_thousand_cycles_leave_nothing_behind() {
    // A worker left behind each time would be 16 MB here. A few hundred bytes would be 3 MB in the
    // 10,000 cycles below.
    for (mut builder, times) in
        [(Builder::new_multi_thread(), 1_000), (Builder::new_current_thread(), 10_000)]
    {
        builder.worker_threads(2);
        cycles(&mut builder, 200);
        let before = resident();
        cycles(&mut builder, times);
        let grown = resident().saturating_sub(before);
        assert!(grown < SLACK, "{grown} bytes after {times} cycles");
    }
}
