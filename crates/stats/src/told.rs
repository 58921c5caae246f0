//! Do the times that someone tells of themselves account for what was seen of them from outside?
//!
//! What is seen holds more than what is told: each answer has a part that is not timed. A clock
//! that is wrong takes its share of each pass, and what is not timed does not. So answers of few
//! passes beside such of many tell the two apart: what the few leave untold is granted to all.

/// How many times as much as is told may be seen before a reader is warned.
pub const DOUBTED: f64 = 2.0;

/// How many times as much as is told may be seen before nothing that is told is believed.
pub const FALSE: f64 = 10.0;

/// How much of the excess must be left where the part that is not timed is taken off. A clock that
/// is wrong leaves nearly all of it.
const LEFT: f64 = 0.3;

/// By how much more is granted than what the few passes leave untold: it varies from answer to
/// answer.
const MARGIN: f64 = 1.25;

/// The most that is granted to an answer that cannot be told from others by its passes, in
/// nanoseconds. OCaml sets up a minor heap for 50 ms where its collector is to be off.
const ALONE_NS: f64 = 100e6;

/// How long such an answer must be to be judged at all, in nanoseconds.
pub const DEAR_NS: f64 = 1e9;

/// How many times as many passes the answers have that are held against those of few.
pub const PASSES: u64 = 4;

/// The fewest timed answers that are judged.
pub const FEWEST: usize = 3;

/// The fewest long answers of which time that may have been waited is held against a probe. An
/// honest one is pushed off its processor in three of three samples of 0.3 ms beside six busy
/// loops, for 10 ms each time.
pub const WAITED: usize = 10;

/// What an answer told of a time, and what was seen of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answer {
    pub passes: u64,
    /// Nanoseconds that it told.
    pub told: f64,
    /// Nanoseconds that were seen.
    pub seen: f64,
    /// The part of these in which it cannot have waited for others. Only this is held against it,
    /// unless nothing that is told is believed of at least [`WAITED`] answers.
    pub busy: f64,
    pub part: Part,
}

/// What an answer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It makes figures.
    Timed,
    /// It was asked for to be held against the timed ones, and nothing in it is cold.
    Contrast,
    /// Anything else.
    Other,
}

/// What is to be thought of what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Judgement {
    Fair,
    /// More than [`DOUBTED`] times as much was seen, and no answers of other passes are there that
    /// would say why.
    Open,
    /// At least [`DOUBTED`] times as much was seen.
    Doubted,
    /// At least [`FALSE`] times as much was seen.
    False,
}

/// All answers of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    answers: Vec<Answer>,
    timed: usize,
    told: f64,
    seen: f64,
}

impl Account {
    pub fn add(&mut self, answer: Answer) {
        self.answers.push(answer);
        if answer.part == Part::Timed {
            self.timed += 1;
            self.told += answer.told;
            self.seen += answer.seen;
        }
    }

    /// The number of timed answers, and the nanoseconds that they told and that were seen of them.
    pub fn sums(&self) -> (usize, f64, f64) {
        (self.timed, self.told, self.seen)
    }

    /// How many times as much was seen as was told; infinite where nothing was told.
    pub fn times(&self) -> f64 {
        if self.told > 0.0 { self.seen / self.told } else { f64::INFINITY }
    }

    /// What is to be thought of it. At least `granted_ns` of each answer may be untold. O(answers),
    /// and O(1) where the sums agree.
    pub fn judgement(&self, granted_ns: f64) -> Judgement {
        if self.timed < FEWEST || self.seen <= 0.0 || self.seen < DOUBTED * self.told {
            return Judgement::Fair;
        }
        let most = self.answers.iter().map(|answer| answer.passes).max().unwrap_or_default();
        let few = |answer: &&Answer| answer.passes.saturating_mul(PASSES) <= most;
        let is_contrast = |answer: &&Answer| few(answer) && answer.part == Part::Contrast;
        let untold = |answer: &Answer| (answer.seen - answer.told).max(0.0);
        // Answers of few passes as a rule come first, and are cold.
        let warm = self.answers.iter().filter(is_contrast).map(untold).reduce(f64::min);
        let least = warm.or_else(|| self.answers.iter().filter(few).map(untold).reduce(f64::min));
        let granted = match least {
            Some(least) => least * MARGIN,
            None if self.seen >= DEAR_NS * self.timed as f64 => ALONE_NS,
            None => return Judgement::Open,
        };
        let granted = granted.max(granted_ns);
        let many = || self.answers.iter().filter(|answer| answer.passes.saturating_mul(2) >= most);
        let is = |times: f64, of: fn(&Answer) -> f64| {
            let holds = |answer: &Answer| {
                let left = of(answer) - granted;
                left > 0.0 && left >= (1.0 + LEFT * (times - 1.0)) * answer.told
            };
            self.seen >= times * self.told && many().all(holds)
        };
        let is_false =
            is(FALSE, |answer| answer.busy) || many().count() >= WAITED && is(FALSE, |answer| answer.seen);
        if is_false {
            Judgement::False
        } else if is(DOUBTED, |answer| answer.busy) {
            Judgement::Doubted
        } else {
            Judgement::Fair
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    fn answer(passes: u64, part_told: f64, pass_ns: f64, beside_ns: f64, part: Part) -> Answer {
        let works = passes as f64 * pass_ns;
        let seen = works + beside_ns;
        Answer { passes, told: (works * part_told).floor(), seen, busy: seen, part }
    }

    /// 20 answers of `passes`, which tell a part of them, each with `beside_ns` that is not timed,
    /// and contrasts of `others`.
    fn told(part_told: f64, passes: u64, pass_ns: f64, beside_ns: f64, others: Option<u64>) -> Judgement {
        let mut account = Account::default();
        for _ in 0..20 {
            account.add(answer(passes, part_told, pass_ns, beside_ns, Part::Timed));
        }
        if let Some(others) = others {
            (0..3).for_each(|_| account.add(answer(others, part_told, pass_ns, beside_ns, Part::Contrast)));
        }
        account.judgement(500e3)
    }

    #[test]
    fn halves_are_doubted_and_tenths_are_false() {
        for (part_told, is) in [
            (1.0, Judgement::Fair),
            (0.6, Judgement::Fair),
            (0.5, Judgement::Doubted),
            (0.11, Judgement::Doubted),
            (0.1, Judgement::False),
            (0.01, Judgement::False),
            (0.0, Judgement::False),
        ] {
            assert_eq!(told(part_told, 400, 50e3, 100e3, Some(1)), is, "{part_told} of many passes");
            assert_eq!(told(part_told, 1, 20e6, 100e3, Some(4)), is, "{part_told} of one pass");
            assert_eq!(told(part_told, 1, 3e9, 100e3, None), is, "{part_told} of a long one");
        }
    }

    #[test]
    fn what_is_not_timed_is_granted_however_much_it_is() {
        assert_eq!(told(1.0, 4, 5e3, 300e3, Some(1)), Judgement::Fair, "short answers, dear requests");
        assert_eq!(told(1.0, 1, 3e6, 80e6, Some(4)), Judgement::Fair, "a heap is set up");
        assert_eq!(told(1.0, 1, 3e6, 80e6, None), Judgement::Open, "nothing to compare with");
        assert_eq!(told(0.1, 1, 30e6, 80e6, Some(4)), Judgement::False);
    }

    #[test]
    fn one_honest_answer_of_many_passes_is_enough() {
        let mut account = Account::default();
        (0..20).for_each(|_| account.add(answer(40, 0.05, 1e6, 100e3, Part::Timed)));
        account.add(answer(1, 0.05, 1e6, 100e3, Part::Other));
        assert_eq!(account.judgement(500e3), Judgement::False);
        account.add(answer(40, 1.0, 1e6, 100e3, Part::Other));
        assert_eq!(account.judgement(500e3), Judgement::Fair);
    }

    #[test]
    fn time_in_which_it_may_have_waited_is_no_ground_for_doubt() {
        let account = |long: usize, told: f64, busy: f64| {
            let mut account = Account::default();
            for (passes, part) in iter::repeat_n((40, Part::Timed), long).chain([(1, Part::Contrast)]) {
                let share = passes as f64 / 40.0;
                let [told, seen, busy] = [told, 40e6, busy].map(|ns| ns * share);
                account.add(Answer { passes, told, seen, busy, part });
            }
            account.judgement(500e3)
        };
        assert_eq!(account(3, 20e6, 22e6), Judgement::Fair);
        assert_eq!(account(3, 20e6, 40e6), Judgement::Doubted);
        assert_eq!(account(WAITED - 1, 4e6, 4e6), Judgement::Fair, "pushed aside each time");
        assert_eq!(account(WAITED, 4e6, 4e6), Judgement::False);
        assert_eq!(account(3, 4e6, 40e6), Judgement::False);
    }

    #[test]
    fn few_answers_and_nothing_seen_say_nothing() {
        let mut account = Account::default();
        for _ in 1..FEWEST {
            account.add(answer(1, 0.0, 2e9, 0.0, Part::Timed));
        }
        assert_eq!(account.judgement(1.0), Judgement::Fair);
        account.add(answer(1, 0.0, 2e9, 0.0, Part::Timed));
        assert_eq!(account.judgement(1.0), Judgement::False);
        let mut nothing = Account::default();
        (0..9).for_each(|_| nothing.add(answer(1, 0.0, 0.0, 0.0, Part::Timed)));
        assert_eq!(nothing.judgement(1.0), Judgement::Fair);
    }
}
