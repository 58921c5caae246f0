//! Judges the claims of Taskflow's performance guide by what its programs printed.
//!
//! A bound has a figure with a 95 % interval over rounds. It holds where the whole interval lies
//! within, it fails where the whole lies outside, and otherwise it cannot be told. A claim is
//! confirmed where all of its bounds hold, refuted where all fail, and partly right where some hold
//! and some fail. Of what the guide claims nothing, a question, is answered where every figure has
//! an interval.
//!
//! | module | does |
//! |---|---|
//! | [`read`] | reads `taskscale.guide/1` and the lines of a program |
//! | `figures` | a bound's figure from the samples of its arms |
//! | `map` | how loops of several profiles compare by policy |

mod figures;
mod map;
pub mod read;

use std::collections::BTreeMap;

use taskscale_model::{
    guide::{
        Bound, Claim, Ended, Figure, Judged, JudgedBound, Library, Measured, Of, OfLibrary, Program,
        Standing, VERDICTS, Verdict, Verdicts,
    },
    missing::Missing,
};

use figures::{Interval, Rounds};
use read::File;

use crate::summarize::TIE;

/// A ratio whose whole interval lies within this share of 1 is no effect.
const NO_EFFECT: f64 = 0.02;

/// Why a figure has no interval, and what to do.
const TOO_FEW: &str = "fewer than six rounds, or than three processes, have no interval";
const MORE_TIME: &str = "allow more with --max-time";
const MORE_AND_QUIET: &str = "allow more with --max-time, on a quiet machine";

/// Judges all claims of a file. O(samples log samples), and 1,000 resamples for each crossover and
/// each spread.
pub fn judge(file: &File) -> Verdicts {
    let header = &file.header;
    let other = |library: &Library| {
        let name = Some(library.name.as_str());
        OfLibrary {
            name: library.name.clone(),
            version: version(file, name),
            toolchain: library.toolchain.clone(),
            program: library.program.clone(),
            claims: claims(file, name),
        }
    };
    Verdicts {
        schema: VERDICTS.into(),
        tool: header.tool.clone(),
        command: header.command.clone(),
        machine: header.machine.clone(),
        compiler: header.compiler.clone(),
        taskflow: version(file, None),
        elapsed_s: file.end.map(|end| end.elapsed_s),
        interrupted: file.end.is_some_and(|end| end.interrupted),
        claims: claims(file, None),
        no_taskflow: header.no_taskflow.clone(),
        others: header.libraries.iter().map(other).collect(),
        notes: file.notes.clone(),
    }
}

/// The programs of a library; without a name, Taskflow's.
fn programs<'a>(file: &'a File, library: Option<&'a str>) -> impl Iterator<Item = &'a Program> {
    file.header.programs.iter().filter(move |program| program.library.as_deref() == library)
}

fn claims(file: &File, library: Option<&str>) -> Vec<Judged> {
    let mut claims: Vec<Judged> =
        programs(file, library).flat_map(|program| of_program(file, program)).collect();
    claims.sort_by_key(|judged| judged.claim);
    claims
}

fn version(file: &File, library: Option<&str>) -> Option<String> {
    let mut said = programs(file, library).filter_map(|program| file.claims.get(&program.name)?.first());
    said.next().map(|claim| claim.version.clone())
}

/// The verdicts on the claims of a program; those that it never came to name have only a reason.
fn of_program(file: &File, program: &Program) -> Vec<Judged> {
    let claims = file.claims.get(&program.name).map_or(&[][..], |claims| claims);
    let rounds = file.rounds(&program.name);
    let ended = file.ended.get(&program.name);
    let known = claims.iter().map(|claim| judged(file, program, claim, &rounds, ended));
    let unknown = program.claims.iter().filter(|number| !claims.iter().any(|claim| claim.claim == **number));
    let unknown = unknown.map(|number| {
        let (verdict, why) = unmeasured(ended);
        Judged {
            claim: *number,
            text: program.said_of(*number).unwrap_or_default().to_owned(),
            clock: "none".into(),
            note: String::new(),
            question: false,
            program: program.name.clone(),
            verdict,
            why: Some(why),
            bounds: Vec::new(),
            arms: Vec::new(),
            map: None,
        }
    });
    known.chain(unknown).collect()
}

fn unmeasured(ended: Option<&Ended>) -> (Verdict, Missing) {
    match ended.and_then(|ended| ended.failed.clone()) {
        Some(why) => (Verdict::Failed, why),
        None => (
            Verdict::NotMeasured,
            Missing::new("the run ended before", "let it run to its end, or this alone: --claim"),
        ),
    }
}

fn judged(
    file: &File,
    program: &Program,
    claim: &Claim,
    rounds: &Rounds<'_>,
    ended: Option<&Ended>,
) -> Judged {
    let untestable = |arm: Option<&str>| {
        let lines = file.untestable.get(&program.name).map_or(&[][..], |lines| lines);
        // An arm is untestable for every claim of its program.
        let found = lines.iter().find(|line| match arm {
            Some(_) => line.arm.as_deref() == arm,
            None => line.arm.is_none() && line.claim == claim.claim,
        })?;
        Some(Missing::new(found.untestable.clone(), found.remedy.clone()))
    };
    let bounds: Vec<JudgedBound> = claim
        .bounds
        .iter()
        .map(|bound| bounded(bound, claim, rounds, &|arm| untestable(Some(arm))))
        .collect();
    let arms: Vec<Measured> = claim
        .arms
        .iter()
        .map(|arm| {
            let median = |metric: &str| rounds.median(&arm.name, metric, taskscale_model::guide::Per::Task);
            let rounds = rounds.count(&arm.name);
            let why =
                (rounds == 0).then(|| untestable(Some(&arm.name)).unwrap_or_else(|| unmeasured(ended).1));
            let (cpu_ns, wall_ns) = (median("cpu_ns"), median("wall_ns"));
            let (name, flags) = (arm.name.clone(), arm.flags.clone());
            Measured { name, tasks: arm.tasks, rounds, cpu_ns, wall_ns, why, flags }
        })
        .collect();
    let (verdict, why) = match (untestable(None), ended) {
        (_, Some(Ended { failed: Some(why), .. })) => (Verdict::Failed, Some(why.clone())),
        // What no machine has is no matter of this one.
        (Some(why), _) if why.remedy.is_empty() => (Verdict::Inapplicable, Some(why)),
        (Some(why), _) => (Verdict::NotTestable, Some(why)),
        (None, _) if claim.question => answer(&bounds, ended),
        (None, _) => verdict(&bounds, ended),
    };
    Judged {
        claim: claim.claim,
        text: claim.text.clone(),
        clock: claim.clock.clone(),
        note: claim.note.clone(),
        question: claim.question,
        program: program.name.clone(),
        verdict,
        why,
        bounds,
        map: map::of(&arms),
        arms,
    }
}

/// The ends of an interval that answers nothing lie so many times apart.
const WIDE: f64 = 10.0;

/// Whether a figure that is a factor or a time leaves more open than it says. Of a difference,
/// which may be on either side of nothing, there is no such rule.
fn is_wide(figure: &Figure) -> bool {
    figure.low.zip(figure.high).is_some_and(|(low, high)| low > 0.0 && high > WIDE * low)
}

/// Whether the bounds of a question answer it. One whose arm cannot be measured here says nothing.
fn answer(bounds: &[JudgedBound], ended: Option<&Ended>) -> (Verdict, Option<Missing>) {
    let figures = || bounds.iter().filter(|bound| !matches!(bound.of, Of::Report { .. }));
    let told: Vec<&Figure> = figures().filter_map(|bound| bound.figure.value()).collect();
    match figures().find_map(|bound| bound.figure.why()) {
        Some(why) if told.is_empty() && ended.is_some() => (Verdict::NotTestable, Some(why.clone())),
        _ if told.is_empty() => (Verdict::NotMeasured, Some(unmeasured(ended).1)),
        _ if told.iter().any(|figure| !figure.has_interval) => {
            (Verdict::CannotTell, Some(Missing::new(TOO_FEW, MORE_TIME)))
        }
        _ if told.iter().any(|figure| is_wide(figure)) => (
            Verdict::CannotTell,
            Some(Missing::new(format!("an interval spans more than {WIDE:.0} times"), MORE_AND_QUIET)),
        ),
        _ => (Verdict::Answered, None),
    }
}

/// What follows for a claim from its bounds.
fn verdict(bounds: &[JudgedBound], ended: Option<&Ended>) -> (Verdict, Option<Missing>) {
    let judged = || bounds.iter().filter(|bound| bound.standing != Standing::Shown);
    let so_many = |standing| judged().filter(|bound| bound.standing == standing).count();
    let (all, hold, fail) = (judged().count(), so_many(Standing::Holds), so_many(Standing::Fails));
    // A bound whose arm cannot be measured here says nothing for or against.
    let missing: Vec<&Missing> = judged().filter_map(|bound| bound.figure.why()).collect();
    let told = all - missing.len();
    // One that more time would measure may say either.
    let owed: Vec<&&Missing> = missing.iter().filter(|why| why.remedy == MORE_TIME).collect();
    match (told, hold, fail) {
        (0, ..) if all > 0 && ended.is_some() => {
            (Verdict::NotTestable, missing.first().map(|why| (*why).clone()))
        }
        (0, ..) if all > 0 => (Verdict::NotMeasured, Some(unmeasured(ended).1)),
        (_, 1.., 1..) => (Verdict::Partly, None),
        _ if let Some(why) = owed.first() => (
            Verdict::CannotTell,
            Some(Missing::new(
                format!("{} of {all} bounds lack samples: {}", owed.len(), why.reason),
                MORE_TIME,
            )),
        ),
        (told, hold, 0) if hold == told && all > 0 => (Verdict::Confirmed, None),
        (told, 0, fail) if fail == told && all > 0 => (Verdict::Refuted, None),
        // It bounds nothing: its figures are what there is to say.
        (0, 0, 0) if bounds.iter().any(|bound| bound.figure.value().is_some()) => (Verdict::Answered, None),
        (0, 0, 0) => (Verdict::CannotTell, Some(Missing::new("it bounds nothing, and has no figure", ""))),
        _ => {
            let few = judged().filter_map(|bound| bound.figure.value()).any(|figure| !figure.has_interval);
            let why = match few {
                true => Missing::new(TOO_FEW, MORE_TIME),
                false => Missing::new(
                    format!(
                        "of {all} bounds {hold} hold, {fail} fail, and {} lie within the interval of their figure",
                        all - missing.len() - hold - fail
                    ),
                    MORE_AND_QUIET,
                ),
            };
            (Verdict::CannotTell, Some(why))
        }
    }
}

fn bounded(
    bound: &Bound,
    claim: &Claim,
    rounds: &Rounds<'_>,
    untestable: &dyn Fn(&str) -> Option<Missing>,
) -> JudgedBound {
    let names = arms_of(&bound.of);
    let lacking = names.iter().find(|arm| rounds.count(arm) == 0);
    let figure = match lacking {
        Some(arm) => {
            Err(untestable(arm).unwrap_or_else(|| Missing::new(format!("{arm} has no sample"), MORE_TIME)))
        }
        None => figures::of(bound, claim, rounds),
    };
    let standing = match &figure {
        _ if bounds_nothing(bound) => Standing::Shown,
        Ok((_, Some(interval))) => standing(bound, *interval),
        _ => Standing::CannotTell,
    };
    JudgedBound {
        name: bound.name.clone(),
        of: bound.of.clone(),
        metric: bound.metric.clone(),
        per: bound.per,
        above: applied(bound)[0],
        below: applied(bound)[1],
        standing,
        figure: figure.map(|(figure, _)| figure).into(),
    }
}

/// Whether nothing follows from a bound.
fn bounds_nothing(bound: &Bound) -> bool {
    match bound.of {
        Of::Report { .. } => true,
        Of::Effect { .. } => false,
        _ => bound.above.is_none() && bound.below.is_none(),
    }
}

/// What a figure has to lie above and below, with the margin of a tie where a claim is "no worse".
fn applied(bound: &Bound) -> [Option<f64>; 2] {
    // What is no worse than another is worse by no more than what counts as a tie. One margin for
    // and against: with 2 % against and 10 % for, 1.04x [1.01, 1.05] held and 1.04x [1.02, 1.05]
    // failed, so that of two runs one confirmed what the other did not.
    let margin = if bound.tie.as_deref() == Some("holds") { TIE } else { 0.0 };
    [
        bound.above.map(|above| above - margin * above.abs()),
        bound.below.map(|below| below + margin * below.abs()),
    ]
}

/// Whether the interval lies within the bounds. Its ends may be infinite.
fn standing(bound: &Bound, Interval { low, high }: Interval) -> Standing {
    if let Of::Effect { .. } = bound.of {
        return match (low, high) {
            _ if low > 1.0 || high < 1.0 => Standing::Holds,
            _ if low > 1.0 - NO_EFFECT && high < 1.0 + NO_EFFECT => Standing::Fails,
            _ => Standing::CannotTell,
        };
    }
    let [above, below] = applied(bound);
    let (above, below) = (above.unwrap_or(f64::NEG_INFINITY), below.unwrap_or(f64::INFINITY));
    // Two bounds are a range with its ends. One is to be passed: what is always 0 is not above 0.
    let is_range = bound.above.is_some() && bound.below.is_some();
    let within =
        |value: f64| if is_range { above <= value && value <= below } else { above < value && value < below };
    let outside = if is_range { high < above || low > below } else { high <= above || low >= below };
    match () {
        () if outside => Standing::Fails,
        () if within(low) && within(high) => Standing::Holds,
        () => Standing::CannotTell,
    }
}

/// The arms that a bound is about.
fn arms_of(of: &Of) -> Vec<&str> {
    match of {
        Of::Value { one } => vec![one],
        Of::Ratio { one, other }
        | Of::Difference { one, other }
        | Of::Effect { one, other }
        | Of::Spread { one, other } => vec![one, other],
        Of::Slope { arms } | Of::Report { arms } => arms.iter().map(String::as_str).collect(),
        Of::Crossover { ones, others, .. } => ones.iter().chain(others).map(String::as_str).collect(),
    }
}

/// So many claims have each verdict.
pub fn tally<'a>(claims: impl Iterator<Item = &'a Judged>) -> BTreeMap<Verdict, usize> {
    let mut tally = BTreeMap::new();
    for judged in claims {
        *tally.entry(judged.verdict).or_default() += 1;
    }
    tally
}
