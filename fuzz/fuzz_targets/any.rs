#![no_main]

use libfuzzer_sys::fuzz_target;

// Any bytes: the recognition of formats too.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check(rest));
