#![no_main]

use libfuzzer_sys::fuzz_target;

// A Dask task stream, from within its first record.
fuzz_target!(|rest: &[u8]| taskscale_fuzz::check_behind(b"[{\"startstops\":", rest));
