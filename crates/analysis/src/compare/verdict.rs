//! The verdict on each row.

use taskscale_model::{
    compare::{ComparedRow, Unchanged, Verdict},
    figure::percent,
    missing::Missing,
    summary::Interval,
};
use taskscale_stats::{
    confidence::{among, gate},
    quantile::median,
    rounds::Rounds,
    shift::{BEYOND_UNCHANGED, Shift, estimate},
};

use super::{
    limits::Controls,
    longer::Longer,
    rows::{Pair, Side},
};
use crate::{summarize::samples::State, told};

const TOO_FEW: &str = "take longer runs: --samples, --max-time";

/// What two sessions may differ by where no row of unchanged code tells: identical code that lives
/// on its caches moved by 29 % between a session alone and one beside a program that fills them.
const UNWATCHED: f64 = 0.3;

/// Judges each row by what all rows together allow.
pub struct Judge<'a> {
    /// The number of rows that share the confidence.
    pub family: usize,
    /// The number of rows that the confidence is for: those of both sides where none can share it.
    sharing: usize,
    confidence: f64,
    evidence: Evidence<'a>,
    /// Runtime, variant and ln(new / old) of rows whose code is the same on both sides.
    unchanged: Vec<(&'a str, &'a str, f64)>,
    /// The share up to which a difference counts as none.
    pub threshold: f64,
}

/// What says how much identical code differs.
pub enum Evidence<'a> {
    /// Two runs: the controls of each, and whether both are of one machine.
    TwoRuns {
        /// The controls of the old run and of the new run.
        controls: &'a (Controls<'a>, Controls<'a>),
        /// Whether figures of the two may be divided.
        same_machine: bool,
    },
    /// The controls of one run, which took both sides in turns, and what it took.
    OneRun(&'a Controls<'a>, &'a Longer<'a>),
}

/// A verdict with the figures behind it.
struct Judged {
    verdict: Verdict,
    shift: Option<Shift>,
    limit: Option<f64>,
    why: Option<Missing>,
}

impl Judged {
    fn plain(verdict: Verdict, why: Option<Missing>) -> Self {
        Judged { verdict, shift: None, limit: None, why }
    }

    fn cannot_tell(reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Judged::plain(Verdict::CannotTell, Some(Missing::new(reason, remedy)))
    }
}

impl<'a> Judge<'a> {
    /// `threshold` is a share. A row that has too few processes for an interval, if all rows shared
    /// the confidence, makes no claim and takes no share. That rests on numbers of processes and on
    /// no outcome.
    pub fn new(pairs: &'a [Pair<'a>], evidence: Evidence<'a>, threshold: f64) -> Self {
        let both: Vec<&Pair<'_>> = pairs.iter().filter(|pair| pair.values().is_some()).collect();
        let share = match evidence {
            Evidence::TwoRuns { .. } => among,
            Evidence::OneRun(..) => gate,
        };
        let all = both.len();
        let all_share = share(all);
        let family: Vec<&Pair<'_>> =
            both.into_iter().filter(|pair| pair.shift(all_share).is_some()).collect();
        let log = |pair: &Pair<'a>| {
            let (old, new) = pair.values()?;
            Some((pair.row().key.runtime.as_str(), pair.row().key.variant.as_str(), estimate(old, new)?))
        };
        let unchanged = family.iter().filter(|pair| pair.same_code).filter_map(|pair| log(pair)).collect();
        // Where no row shares, the confidence is as strict as for all of them.
        let sharing = if family.is_empty() { all } else { family.len() };
        Judge { confidence: share(sharing), sharing, family: family.len(), evidence, unchanged, threshold }
    }

    /// How far rows of unchanged code moved.
    pub fn unchanged(&self) -> Unchanged {
        let logs: Vec<f64> = self.unchanged.iter().map(|(.., log)| *log).collect();
        Unchanged {
            rows: logs.len() as u64,
            median_shift: median(&logs).map(f64::exp_m1),
            largest_shift: logs.iter().map(|log| log.abs()).reduce(f64::max).map(f64::exp_m1),
        }
    }

    /// The entry of a row in the comparison.
    pub fn row(&self, pair: &Pair<'_>) -> ComparedRow {
        let row = pair.row();
        let judged = self.judge(pair);
        ComparedRow {
            key: row.key.clone(),
            old: pair.old.as_ref().map(Side::figure),
            new: pair.new.as_ref().map(Side::figure),
            ratio: judged.shift.map(|shift| shift.log.exp()),
            ratio_ci: judged.shift.map(|shift| Interval(shift.low.exp(), shift.high.exp())),
            limit: judged.limit.map(f64::exp_m1),
            same_code: pair.same_code,
            verdict: judged.verdict,
            why: judged.why,
            counts: Vec::new(),
        }
    }

    fn judge(&self, pair: &Pair<'_>) -> Judged {
        if matches!(self.evidence, Evidence::TwoRuns { same_machine: false, .. }) {
            return Judged::plain(Verdict::OtherMachine, None);
        }
        let (old, new) = match (&pair.old, &pair.new) {
            (Some(old), Some(new)) => (old, new),
            (None, _) => return absent("OLD", pair.elsewhere),
            (_, None) => return absent("NEW", pair.elsewhere),
        };
        match (old.state, new.state) {
            (State::Failed(_), State::Failed(why)) => {
                Judged::cannot_tell(format!("failed in both: {}", why.reason), &*why.remedy)
            }
            (State::Skipped(_), State::Skipped(why)) => {
                Judged::cannot_tell(format!("skipped in both: {}", why.reason), &*why.remedy)
            }
            (State::Skipped(why), _) => {
                Judged::cannot_tell(format!("skipped in OLD: {}", why.reason), &*why.remedy)
            }
            (_, State::Skipped(why)) => {
                Judged::cannot_tell(format!("skipped in NEW: {}", why.reason), &*why.remedy)
            }
            (State::Ok(_), State::Failed(why)) => {
                let why = Missing::new(format!("failed in NEW: {}", why.reason), &*why.remedy);
                Judged::plain(Verdict::Worse, Some(why))
            }
            (State::Failed(why), State::Ok(_)) => Judged::plain(
                Verdict::Better,
                Some(Missing::new(format!("failed in OLD: {}", why.reason), "")),
            ),
            (State::Ok(_), State::Ok(_)) => self.by_figures(pair, old, new),
        }
    }

    fn by_figures(&self, pair: &Pair<'_>, old: &Side<'_>, new: &Side<'_>) -> Judged {
        for (side, other, name) in [(old, new, "OLD"), (new, old, "NEW")] {
            if let Some(reason) = side.tells_less_than(other) {
                return Judged::cannot_tell(format!("{reason} in {name}"), told::REMEDY_DOUBTED);
            }
            if side.values.iter().any(|value| *value <= 0.0) {
                return Judged::cannot_tell(
                    format!("the clock showed 0 ns in {name}"),
                    "take longer samples: --sample-time",
                );
            }
            if side.not_settled() && matches!(self.evidence, Evidence::TwoRuns { .. }) {
                return Judged::plain(Verdict::CannotTell, Some(not_settled(name)));
            }
        }
        let ended = if let State::Ok(stop) = new.state { *stop } else { None };
        let Some(shift) = pair.shift(self.confidence) else {
            let remedy = self.longer(pair, |longer, rounds| {
                longer.for_pairs(pair.row(), ended, rounds, rounds.fewest(self.confidence))
            });
            return Judged::cannot_tell(pair.too_few(self.confidence, self.sharing), remedy);
        };
        let limit = match &self.evidence {
            Evidence::TwoRuns { controls, .. } => self.limit(pair, controls),
            Evidence::OneRun(controls, _) => self.limit_in_one_run(old, controls),
        };
        let (limit, why) = match limit {
            Ok(limit) => limit,
            Err(why) => {
                return Judged {
                    verdict: Verdict::CannotTell,
                    shift: Some(shift),
                    limit: None,
                    why: Some(why),
                };
            }
        };
        let threshold = self.threshold.ln_1p();
        let (verdict, why) = if shift.low > limit {
            (Verdict::Worse, None)
        } else if shift.high < -limit {
            (Verdict::Better, None)
        } else if -threshold <= shift.low && shift.high <= threshold {
            (Verdict::Same, None)
        } else if shift.low > threshold || shift.high < -threshold {
            (Verdict::CannotTell, Some(why))
        } else {
            let reason = "interval too wide: it reaches from within the threshold beyond it";
            let remedy = self
                .longer(pair, |longer, rounds| longer.for_width(pair.row(), ended, rounds, shift, threshold));
            (Verdict::CannotTell, Some(Missing::new(reason, remedy)))
        };
        // In turns, sides that are timed too early are timed alike: what differs between them is
        // real, and may end when their code is compiled.
        let early = [(old, "OLD"), (new, "NEW")].into_iter().find(|(side, _)| side.not_settled());
        let early = early.map(|(_, name)| not_settled(name));
        let (verdict, why) = match verdict {
            Verdict::Same if early.is_some() => (Verdict::CannotTell, early),
            Verdict::Worse | Verdict::Better => (verdict, early),
            _ => (verdict, why),
        };
        Judged { verdict, shift: Some(shift), limit: Some(limit), why }
    }

    /// What `of` names as long enough where both sides are of one run, else that it takes longer.
    fn longer(&self, pair: &Pair<'_>, of: impl Fn(&Longer<'_>, &Rounds) -> Option<String>) -> String {
        let named = match (&self.evidence, &pair.rounds) {
            (Evidence::OneRun(_, longer), Some(rounds)) => of(longer, rounds),
            _ => None,
        };
        named.unwrap_or_else(|| TOO_FEW.to_owned())
    }

    /// What |ln ratio| must exceed, and what to say where it does not. It is an error where a file
    /// has no control.
    fn limit(
        &self,
        pair: &Pair<'_>,
        (old, new): &(Controls<'_>, Controls<'_>),
    ) -> Result<(f64, Missing), Missing> {
        let row = pair.row();
        let mut limit = (self.threshold.ln_1p(), Missing::new("", ""));
        for (controls, name) in [(old, "OLD"), (new, "NEW")] {
            let control = controls
                .limit(row)
                .ok_or_else(|| Missing::new(format!("no A/A control with an interval in {name}"), TOO_FEW))?;
            if control > limit.0 {
                let reason = format!(
                    "the A/A control of {name} leaves differences of up to {} % open between identical code",
                    percent(control.exp_m1())
                );
                limit = (
                    control,
                    Missing::new(reason, "measure while the machine is quiet (taskscale doctor), or longer"),
                );
            }
        }
        let others: Vec<f64> = self
            .unchanged
            .iter()
            .filter(|(runtime, variant, _)| (*runtime, *variant) != (&*row.key.runtime, &*row.key.variant))
            .map(|(.., log)| log.abs())
            .collect();
        if others.is_empty() && UNWATCHED.ln_1p() > limit.0 {
            let reason = format!(
                "no row of unchanged code shows what changed between the sessions, which moved identical code by up to {} % elsewhere",
                percent(UNWATCHED)
            );
            limit = (
                UNWATCHED.ln_1p(),
                Missing::new(reason, "measure both in one run: taskscale run --against OLD"),
            );
        }
        let moved = others.into_iter().fold(0.0, f64::max);
        if BEYOND_UNCHANGED * moved > limit.0 {
            let reason = format!(
                "between the two sessions a row of unchanged code moved by {} %, and this one not by more than {BEYOND_UNCHANGED} times as much",
                percent(moved.exp_m1())
            );
            limit = (
                BEYOND_UNCHANGED * moved,
                Missing::new(reason, "measure both in one run: taskscale run --against OLD"),
            );
        }
        Ok(limit)
    }

    /// The limit in one run, where the intervals hold as they are: what the machine did, it did to
    /// both sides. A control is the old side twice. Where the same rule would call it worse or
    /// better, the intervals cannot be trusted and the result is an error. A control that merely
    /// excludes 1, as one in 20 does by chance, is not enough: it would silence one sound run in
    /// 20.
    fn limit_in_one_run(&self, old: &Side<'_>, controls: &Controls<'_>) -> Result<(f64, Missing), Missing> {
        let limit = self.threshold.ln_1p();
        if let Some(why) = controls.failed(old.row) {
            let reason = format!("the A/A control, the same code as OLD, failed: {}", why.reason);
            return Err(Missing::new(reason, &*why.remedy));
        }
        match controls.would_be_called(old.row, self.confidence, limit) {
            None => Err(Missing::new("no A/A control with an interval in this run", TOO_FEW)),
            Some(true) => Err(Missing::new(
                "the A/A control of this runtime would be called worse or better, and is the same code twice",
                "measure again, while the machine is quiet (taskscale doctor)",
            )),
            Some(false) => Ok((limit, Missing::new("", ""))),
        }
    }
}

/// Fresh processes of a side were mostly timed before their cost had levelled off.
fn not_settled(name: &str) -> Missing {
    Missing::new(format!("most of its processes had not settled in {name}"), "allow more with --max-time")
}

fn absent(from: &str, elsewhere: bool) -> Judged {
    if elsewhere {
        return Judged::cannot_tell(
            format!("not in {from}, which has it with other parameters"),
            "take both runs with the same --param (--work calibrates anew in every run: use --param work=STEPS)",
        );
    }
    Judged::cannot_tell(format!("not in {from}"), "take both runs with the same suites, sizes and variants")
}
