#![no_main]

use libfuzzer_sys::fuzz_target;

// A file of the guide, behind a header that is whole.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_guide(rest));
