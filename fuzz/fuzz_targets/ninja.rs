#![no_main]

use libfuzzer_sys::fuzz_target;

// A ninja log, behind its header.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_behind(b"# ninja log v5\n", rest));
