#![no_main]

use libfuzzer_sys::fuzz_target;

// A digest with any values in it, in every form.
fuzz_target!(|bytes: &[u8]| taskscale_fuzz::check_digest(bytes));
