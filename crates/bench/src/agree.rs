//! Holds answers to one another where no rule computes them
//! ([`taskscale_model::answer::Rule::Agree`]).

use std::collections::{BTreeMap, HashMap};

use taskscale_model::{
    figure::count,
    key::{RowKey, SeriesKey},
    missing::Missing,
    params,
    protocol::{Answer, PHASES, RunRequest},
    run_file::RowRecord,
};

use crate::fault::Fault;

/// The most remembered questions; beyond it the memory is emptied. A cell asks the same question
/// within two rounds.
const REMEMBERED: usize = 4096;

/// What has one answer: workload, size, seed, and the parameters in words.
///
/// An instrumented run is a question of its own, since a timed one that discards results answers
/// their number (`probes/PROTOCOL.md`, "Discard").
#[derive(Debug, PartialEq, Eq, Hash)]
struct Question(String, u64, u64, String);

/// The first answer to a question.
#[derive(Debug)]
struct First {
    /// The row that gave it, as `runtime:variant`.
    who: String,
    answer: u64,
    iterations: u64,
}

/// The first answer to each question. All others are held to it.
#[derive(Debug, Default)]
pub(crate) struct Agreed {
    known: HashMap<Question, First>,
    /// The size at which the answer of a series was refused.
    refused: BTreeMap<SeriesKey, u64>,
}

impl Agreed {
    /// Why a row is not asked: its series has failed at another size.
    pub fn in_vain(&self, key: &RowKey) -> Option<Missing> {
        let size = self.refused.get(&key.series).filter(|size| **size != key.size)?;
        let reason = format!("not asked: its answer at size {} was refused", count(*size));
        Some(Missing::new(reason, "see why that row failed"))
    }

    /// [`Agreed::agrees`], remembered where it is refused.
    pub fn hold(&mut self, row: &RowRecord, request: &RunRequest, answer: Answer) -> Result<(), Fault> {
        let agrees = self.agrees(row, request, answer);
        if agrees.is_err() {
            self.refused.insert(row.key.series.clone(), request.size);
        }
        agrees
    }

    /// Accepts an answer that agrees with the first one to the same question, or is the first.
    /// Refuses 0 above size 1: code that does nothing gives it, and so does code that forgets to
    /// return.
    fn agrees(&mut self, row: &RowRecord, request: &RunRequest, Answer(answer): Answer) -> Result<(), Fault> {
        let (size, iterations) = (request.size, request.iterations);
        if answer == 0 && size > 1 {
            return Err(Fault::NoAnswer { size });
        }
        if self.known.len() > REMEMBERED {
            self.known.clear();
        }
        let who = row.key.full_name();
        let mut params = request.params.clone();
        params.remove(PHASES);
        let question = Question(request.workload.clone(), size, request.seed, params::label(&params));
        let first = self.known.entry(question);
        let first = first.or_insert_with(|| First { who: who.clone(), answer, iterations });
        // An answer is the sum over its iterations, so as many iterations of both give the same.
        if answer.wrapping_mul(first.iterations) == first.answer.wrapping_mul(iterations) {
            return Ok(());
        }
        Err(Fault::Disagrees {
            got: answer,
            iterations,
            first: first.answer,
            first_iterations: first.iterations,
            first_of: (first.who != who).then(|| first.who.clone()),
            size,
            seed: request.seed,
        })
    }
}

#[cfg(test)]
mod tests {
    use taskscale_model::{params::ParamValue, protocol::VERIFY, run_file::Role};

    use super::*;

    /// Holds the answer of a variant at a seed to those of before.
    fn hold(
        agreed: &mut Agreed,
        variant: &str,
        seed: u64,
        [answer, iterations]: [u64; 2],
    ) -> Result<(), Fault> {
        agreed.hold(&row(variant), &request(seed, iterations), Answer(answer))
    }

    fn row(variant: &str) -> RowRecord {
        let series = SeriesKey { runtime: "mine".into(), variant: variant.into(), ..SeriesKey::default() };
        RowRecord {
            row: 0,
            key: RowKey { series, size: 64 },
            creates_task: None,
            jit: false,
            settle_ms: None,
            units: None,
            sweep: None,
            role: Role::Row,
            baseline: None,
        }
    }

    fn request(seed: u64, iterations: u64) -> RunRequest {
        RunRequest {
            id: 1,
            workload: "sort".into(),
            variant: "v".into(),
            size: 64,
            iterations,
            params: Default::default(),
            seed,
        }
    }

    #[test]
    fn the_same_question_has_one_answer_whoever_gives_it_in_however_many_iterations() {
        let mut agreed = Agreed::default();
        assert_eq!(hold(&mut agreed, "a", 7, [5, 1]), Ok(()));
        assert_eq!(hold(&mut agreed, "b", 7, [15, 3]), Ok(()));
        assert_eq!(hold(&mut agreed, "b", 8, [6, 1]), Ok(()), "another seed is another question");
        let huge = u64::MAX / 3;
        assert_eq!(hold(&mut agreed, "a", 9, [huge, 1]), Ok(()));
        assert_eq!(hold(&mut agreed, "a", 9, [huge.wrapping_mul(7), 7]), Ok(()), "modulo 2^64");
        let mut verify = request(7, 1);
        verify.params.insert(VERIFY.into(), ParamValue::Flag(true));
        assert_eq!(agreed.hold(&row("a"), &verify, Answer(6)), Ok(()), "so is an instrumented run");
        verify.params.insert(PHASES.into(), ParamValue::Flag(true));
        assert!(agreed.hold(&row("a"), &verify, Answer(5)).is_err(), "the share of creation is not");
    }

    #[test]
    fn who_differs_and_from_whom_is_told() {
        let mut agreed = Agreed::default();
        let said = |result: Result<(), Fault>| result.expect_err("they differ").to_missing();
        assert_eq!(hold(&mut agreed, "a", 7, [5, 1]), Ok(()));
        let other = said(hold(&mut agreed, "b", 7, [12, 2]));
        let words = "the answer is 12 in 2 iterations, mine:a gave 5 in 1 iteration (size 64, seed 7)";
        assert_eq!(other.reason, words);
        assert!(other.remedy.contains("make both give the same"), "{other}");
        let own = said(hold(&mut agreed, "a", 7, [16, 3]));
        let words = "the answer is 16 in 3 iterations, before it was 5 in 1 iteration (size 64, seed 7)";
        assert_eq!(own.reason, words);
        assert!(own.remedy.contains("from the seed"), "{own}");
        let larger = |variant: &str| RowKey { size: 256, ..row(variant).key };
        let vain = agreed.in_vain(&larger("b")).expect("it failed at 64");
        assert_eq!(vain.reason, "not asked: its answer at size 64 was refused");
        assert_eq!(agreed.in_vain(&larger("c")), None);
    }

    #[test]
    fn nothing_is_no_answer() {
        let said = hold(&mut Agreed::default(), "a", 7, [0, 1]).expect_err("nothing").to_missing();
        assert_eq!(said.reason, "the answer is 0 at size 64, which code that does nothing gives too");
        let one = RunRequest { size: 1, ..request(7, 1) };
        assert_eq!(Agreed::default().hold(&row("a"), &one, Answer(0)), Ok(()), "the sum of i below 1 is 0");
    }
}
