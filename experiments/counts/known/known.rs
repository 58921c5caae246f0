// For each number on standard input, that many turns of one allocation, or of one system call:
// `known allocations|calls`.
use std::{fs::OpenOptions, hint::black_box, io::Write};

fn main() {
    let calls = std::env::args().nth(1).as_deref() == Some("calls");
    let mut nowhere = OpenOptions::new().write(true).open("/dev/null").unwrap();
    for line in std::io::stdin().lines() {
        for turn in 0..line.unwrap().trim().parse().unwrap() {
            if calls {
                nowhere.write_all(b"x").unwrap();
            } else {
                black_box(Box::new([turn as u64; 6]));
            }
        }
        println!("done");
    }
}
