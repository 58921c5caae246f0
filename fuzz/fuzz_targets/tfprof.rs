#![no_main]

use libfuzzer_sys::fuzz_target;

// TFProf JSON, from within its first executor.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_behind(b"[{\"executor\":\"1\",\"data\":[", rest));
