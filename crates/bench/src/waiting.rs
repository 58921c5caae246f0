//! Rows that wait: most of an iteration none of their threads runs or could, so that their growth
//! shows in wall time alone.
//!
//! Each sample of such a row is one iteration, the first of a fresh process. A pool that has grown
//! because its tasks waited would not make the next ones wait: .NET adds a thread or two a second
//! to a pool whose workers are blocked, and keeps them for 20 s.

use taskscale_model::run_file::{Kind, SampleRecord};

/// How long an iteration waits at least, in nanoseconds. A fresh process waits for a disk too,
/// which takes some milliseconds of its first answer.
const LEAST_NS: f64 = 20e6;

/// After how many timed samples that do not wait a row no longer does.
const PATIENCE: u64 = 2;

/// Whether a row waits, by its samples so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Waiting {
    /// Nobody looks.
    #[default]
    Unasked,
    /// No sample has waited.
    No,
    /// One has, and so many timed ones have not since.
    Yes { not: u64 },
    /// A timed one has.
    Surely,
    /// Another size of its series surely waits: sizes that are set side by side are measured alike.
    Alike,
}

impl Waiting {
    /// How a row begins whose smaller size waited, or did not.
    pub fn begin(waited: bool) -> Self {
        if waited { Waiting::Yes { not: 0 } } else { Waiting::No }
    }

    /// Whether its samples are single iterations of fresh processes.
    pub fn is(self) -> bool {
        matches!(self, Waiting::Yes { .. } | Waiting::Surely | Waiting::Alike)
    }

    /// Takes a sample in. What is not timed makes a row wait, and timed samples make an end of it:
    /// a first answer may have waited for a disk.
    pub fn take(&mut self, sample: &SampleRecord) {
        let Some(share) = sample.waited() else { return };
        let waited_ns = share * sample.wall_ns as f64;
        let waits = share >= SampleRecord::WAITS && waited_ns >= LEAST_NS * sample.iterations as f64;
        *self = match (*self, sample.kind) {
            (Waiting::No, Kind::Verify | Kind::Pilot | Kind::Warmup) if waits => Waiting::begin(true),
            (Waiting::Yes { not }, Kind::Timed) if !waits => match not + 1 {
                PATIENCE => Waiting::No,
                not => Waiting::Yes { not },
            },
            (Waiting::Yes { .. }, Kind::Timed) => Waiting::Surely,
            (known, _) => known,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(kind: &str, wall_ms: u64, cpu_ms: u64, run_delay_ns: Option<u64>) -> SampleRecord {
        serde_json::from_value(serde_json::json!({
            "order": 0, "row": 0, "kind": kind, "round": 0, "process": 0, "workload": "w", "runtime": "r",
            "variant": "v", "size": 1, "iterations": 1, "seed": 0, "wall_ns": wall_ms * 1_000_000,
            "cpu_ns": cpu_ms * 1_000_000, "outside_wall_ns": wall_ms * 1_000_000, "answer": "1",
            "run_delay_ns": run_delay_ns,
        }))
        .expect("a sample")
    }

    fn after(begin: Waiting, samples: &[SampleRecord]) -> Waiting {
        let mut waiting = begin;
        samples.iter().for_each(|sample| waiting.take(sample));
        waiting
    }

    #[test]
    fn a_row_waits_where_nothing_runs_for_half_of_its_time() {
        let begun = |wall_ms, cpu_ms, delay_ns| {
            after(Waiting::No, &[sample("verify", wall_ms, cpu_ms, delay_ns)]).is()
        };
        assert!(begun(100, 50, Some(0)));
        assert!(!begun(100, 51, Some(0)));
        assert!(!begun(100, 10, Some(41_000_000)), "others had the CPU");
        assert!(!begun(100, 10, None), "its delay is not known");
        assert!(!begun(19, 0, Some(0)), "a disk takes as long");
        assert!(!after(Waiting::Unasked, &[sample("verify", 100, 0, Some(0))]).is());
        assert!(!after(Waiting::No, &[sample("timed", 100, 0, Some(0))]).is(), "no longer a first answer");
    }

    #[test]
    fn two_timed_samples_that_do_not_wait_make_an_end_of_it() {
        let (waits, runs) = (sample("timed", 100, 0, Some(0)), sample("timed", 100, 90, Some(0)));
        assert!(after(Waiting::begin(true), std::slice::from_ref(&runs)).is());
        let surely = after(Waiting::begin(true), &[runs.clone(), waits, runs.clone(), runs.clone()]);
        assert_eq!(surely, Waiting::Surely);
        assert_eq!(after(Waiting::Alike, &[runs.clone(), runs.clone()]), Waiting::Alike);
        assert!(!after(Waiting::begin(true), &[runs.clone(), runs]).is());
    }
}
