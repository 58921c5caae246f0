#![no_main]

use libfuzzer_sys::fuzz_target;

// TFProf's binary, behind its file header.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_behind(b"TFPX\x01\0\0\0\x01\0\0\0", rest));
