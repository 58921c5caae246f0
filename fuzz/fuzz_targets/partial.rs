#![no_main]

use libfuzzer_sys::fuzz_target;

// A file of partial sums: any bytes, or the sample with values of it changed.
fuzz_target!(|bytes: &[u8]| taskscale_fuzz::check_partial(bytes));
