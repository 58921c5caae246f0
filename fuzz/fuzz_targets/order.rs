#![no_main]

use libfuzzer_sys::fuzz_target;

// Spans of any times in any order, nested and overlapping.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_order(rest));
