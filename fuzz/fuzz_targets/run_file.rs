#![no_main]

use libfuzzer_sys::fuzz_target;

// A run file: lines behind a header, or a kept file that is changed.
fuzz_target!(|bytes: &[u8]| taskscale_fuzz::check_run_file(bytes));
