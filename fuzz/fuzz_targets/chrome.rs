#![no_main]

use libfuzzer_sys::fuzz_target;

// A bare list of Chrome trace events.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_behind(b"[", rest));
