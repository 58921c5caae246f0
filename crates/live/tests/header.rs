//! The C header's inlined calls work on the memory laid out here and use the same numbers.

use taskscale_live::{
    plan::{OPEN, SKIP, skip},
    shared::{ENTRIES, FRAMES},
};

const HEADER: &str = include_str!("../../../cpp/include/taskscale/taskscale.h");

#[test]
fn the_header_has_the_same_numbers() {
    for line in [
        format!("#define TASKSCALE_FRAMES {FRAMES}\n"),
        format!("#define TASKSCALE_ENTRIES {ENTRIES}\n"),
        format!("#define TASKSCALE_OPEN {OPEN}u "),
        // The plan, and the third word of an entry.
        "return skip << 32 | skip;".into(),
        "(uint64_t)number | (uint64_t)depth << 32 | (uint64_t)(((parents >> depth) & 1u) ^ 1u) << 48;".into(),
        "kind |= (TASKSCALE_LOAD(worker->plan) >> 32) << 49;".into(),
    ] {
        assert!(HEADER.contains(&line), "{line:?}");
    }
}

#[test]
fn the_header_draws_the_same_lots() {
    let text = |from: &str, to: &str| {
        let rest = &HEADER[HEADER.find(from).expect(from) + from.len()..];
        rest[..rest.find(to).expect(to)].to_owned()
    };
    let factor = text("now *= UINT64_C(0x", ")");
    let factor = u64::from_str_radix(&factor, 16).expect("a number");
    let least: u64 = text("skip = ", " + ((now ^ now >> 32) * UINT64_C(0x").parse().expect("a number");
    assert!(HEADER.contains(&format!("(now ^ now >> 32) * UINT64_C(0x{factor:X}) >> 60)")));
    assert_eq!(least, SKIP);
    for now in (0..1_000u64).map(|at| at * at * 77_777) {
        let mixed = now.wrapping_mul(factor);
        assert_eq!(skip(now), least + ((mixed ^ (mixed >> 32)).wrapping_mul(factor) >> 60));
    }
}
