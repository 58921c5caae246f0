#![no_main]

use libfuzzer_sys::fuzz_target;

// A summary with any values in it, in every form.
fuzz_target!(|bytes: &[u8]| taskscale_fuzz::check_summary(bytes));
