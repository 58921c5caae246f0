#![no_main]

use libfuzzer_sys::fuzz_target;
use taskscale_fuzz::{GZIP, ZSTD, check_behind};

// The first bit says whether the rest is gzip or zstd data.
fuzz_target!(|bytes: &[u8]| {
    if let Some((first, rest)) = bytes.split_first() {
        check_behind(if first & 1 == 0 { GZIP } else { ZSTD }, rest);
    }
});
