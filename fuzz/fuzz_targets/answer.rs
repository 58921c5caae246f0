#![no_main]

use libfuzzer_sys::fuzz_target;

// A line that a probe answers with.
fuzz_target!(|bytes: &[u8]| taskscale_fuzz::check_answer(bytes));
