//! What must hold for any file of the guide.

use taskscale_analysis::guide::{judge, read};
use taskscale_model::guide::Verdict;

/// A kept run, of which the first line is a header with claims 3, 9, 11, 22 and 34.
const KEPT: &str = include_str!("../../crates/analysis/tests/data/guide.jsonl");

/// Reads the bytes behind a header, and judges what was read. Whatever it is, each claim of the
/// header has a verdict, and one without a figure is neither confirmed nor refuted.
pub fn check_guide(rest: &[u8]) {
    let mut file = KEPT.lines().next().unwrap_or_default().as_bytes().to_vec();
    file.push(b'\n');
    file.extend_from_slice(rest);
    let Ok(read) = read::parse(&file) else { return };
    let verdicts = judge(&read);
    for claim in [3, 9, 11, 22, 34] {
        assert!(verdicts.claims.iter().any(|judged| judged.claim == claim), "claim {claim} has no verdict");
    }
    for judged in &verdicts.claims {
        if matches!(judged.verdict, Verdict::Confirmed | Verdict::Refuted | Verdict::Partly) {
            assert!(judged.bounds.iter().any(|bound| bound.figure.value().is_some()), "{judged:?}");
        }
    }
}
