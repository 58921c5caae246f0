//! A little of what the fuzz target `answer` does, by the same checks and with a fixed seed.

#[path = "../../../fuzz/src/answer.rs"]
mod answer;

use answer::check_answer;

/// Lines that probes answer with.
const LINES: [&str; 4] = [
    r#"{"type":"description","protocol":1,"runtime":{"name":"r","language":"l","version":"1"},"clock":{"wall_resolution_ns":1,"cpu_resolution_ns":1},"workloads":[{"name":"fanout","params":[{"name":"order","default":"ordered","choices":["ordered"],"help":"h"}],"variants":[{"name":"v","creates_task":false,"only":{"order":["ordered"]}}]}]}"#,
    r#"{"type":"sample","id":5,"wall_ns":90000000,"cpu_ns":90000000,"answer":"124992","extra":{"executed":128}}"#,
    r#"{"type":"error","message":"no way","missing":true,"remedy":"none","protocol":1}"#,
    r#"{"type":"serving","port":8080}"#,
];

#[test]
fn changed_answers_are_refused_in_one_plain_line_or_right() {
    let mut random = fastrand::Rng::with_seed(3);
    let pieces: [&[u8]; 12] = [
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b",",
        b":",
        b"null",
        b"-1",
        b"1e999",
        b"\xff\x1b[2J\xe2\x80\xae",
        b"18446744073709551616",
    ];
    for round in 0..20_000 {
        let mut line = LINES[round % LINES.len()].as_bytes().to_vec();
        for _ in 0..random.usize(..4) {
            let at = random.usize(..=line.len());
            match random.u8(..4) {
                0 => line.truncate(at),
                1 if at < line.len() => line[at] = random.u8(..),
                2 => drop(line.splice(at..at, pieces[random.usize(..pieces.len())].iter().copied())),
                _ => drop(line.drain(at..random.usize(at..=line.len()))),
            }
        }
        check_answer(&line);
    }
}
