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

/// The fewest answers that are judged.
pub const FEWEST: usize = 3;

/// The fewest long answers of which time that may have been waited is held against a probe. An
/// honest one is pushed off its processor in three of three samples of 0.3 ms beside six busy
/// loops, for 10 ms each time.
pub const WAITED: usize = 10;

/// One in how many timed answers may be wrong for itself before the others do not make up for it.
pub const SHARE: usize = 4;

/// The fewest timed answers that are held against the rest where the sums agree. One may be
/// disturbed.
const FEWEST_APART: usize = 2;

/// How many times less than the least of the fair answers one of a part of the timed answers must
/// tell of a pass. One that sets more up than others tells as much as they, and more is seen of it.
const LESS: f64 = 1.5;

/// The least that must be seen more of longer contrasts than of the timed answers, in nanoseconds,
/// for their growth to bear witness: answers of 0.3 ms differ by half as much.
const GROWN_NS: f64 = 100e3;

/// What may be untold of any answer, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grant {
    /// Of one that is asked for at once behind another. It is the floor where at least [`FEWEST`]
    /// of these bear witness.
    pub at_once_ns: f64,
    /// Of any other: a pause leaves caches cold.
    pub paused_ns: f64,
}

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
    /// Anything else: as a rule the warm-up, one answer at once behind another.
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

/// What is held against timed answers, and against which of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Charge {
    pub judgement: Judgement,
    /// How many of the timed answers it is about: all, or those that are wrong each for itself.
    pub answers: usize,
    /// Nanoseconds that these told.
    pub told: f64,
    /// Nanoseconds that were seen of these.
    pub seen: f64,
}

impl Charge {
    /// How many times as much was seen as was told; infinite where nothing was told.
    pub fn times(&self) -> f64 {
        times(self.told, self.seen)
    }
}

/// All answers of a row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Account {
    answers: Vec<Answer>,
    timed: usize,
    told: f64,
    seen: f64,
    /// Timed answers that tell half of what was seen of them, or less.
    apart: usize,
}

impl Account {
    pub fn add(&mut self, answer: Answer) {
        self.answers.push(answer);
        if answer.part == Part::Timed {
            self.timed += 1;
            self.told += answer.told;
            self.seen += answer.seen;
            self.apart += usize::from(is_apart(&answer, DOUBTED));
        }
    }

    /// The number of timed answers, and the nanoseconds that they told and that were seen of them.
    pub fn sums(&self) -> (usize, f64, f64) {
        (self.timed, self.told, self.seen)
    }

    /// How many times as much was seen as was told; infinite where nothing was told.
    pub fn times(&self) -> f64 {
        times(self.told, self.seen)
    }

    /// Whether a part of the timed answers, or all together, tell half of what was seen or less.
    pub fn is_suspicious(&self) -> bool {
        self.timed > 0 && (self.seen >= DOUBTED * self.told || self.is_suspicious_apart())
    }

    fn is_suspicious_apart(&self) -> bool {
        self.timed >= FEWEST && self.apart >= FEWEST_APART && self.apart * SHARE >= self.timed
    }

    /// What is to be thought of it. O(answers), and O(1) where neither the sums nor a part of the
    /// answers are suspicious.
    pub fn judgement(&self, grant: Grant) -> Judgement {
        self.charge(grant).judgement
    }

    /// The same, and against which answers it is: the sums count where they say as much as a part
    /// of the answers does.
    pub fn charge(&self, grant: Grant) -> Charge {
        let whole =
            Charge { judgement: self.of_sums(grant), answers: self.timed, told: self.told, seen: self.seen };
        match self.of_part(grant) {
            Some(part) if part.judgement > whole.judgement => part,
            _ => whole,
        }
    }

    fn of_sums(&self, grant: Grant) -> Judgement {
        if self.timed == 0 || self.seen <= 0.0 || self.seen < DOUBTED * self.told {
            return Judgement::Fair;
        }
        let most = self.answers.iter().map(|answer| answer.passes).max().unwrap_or_default();
        let few = |answer: &&Answer| answer.passes.saturating_mul(PASSES) <= most;
        let is_contrast = |answer: &&Answer| few(answer) && answer.part == Part::Contrast;
        let many = || self.answers.iter().filter(|answer| answer.passes.saturating_mul(2) >= most);
        // Of one or two timed answers the warm-up of the same length bears witness.
        if self.timed < FEWEST && many().count() < FEWEST {
            return Judgement::Fair;
        }
        // Answers of few passes as a rule come first, and are cold.
        let warm = self.answers.iter().filter(is_contrast).map(untold).reduce(f64::min);
        let least = warm.or_else(|| self.answers.iter().filter(few).map(untold).reduce(f64::min));
        let granted = match least {
            Some(least) => least * MARGIN,
            None if self.seen >= DEAR_NS * self.timed as f64 => ALONE_NS,
            None => return Judgement::Open,
        };
        let at_once = many().filter(|answer| answer.part == Part::Other).count();
        let floor_ns = if at_once >= FEWEST { grant.at_once_ns } else { grant.paused_ns };
        let granted = granted.max(floor_ns);
        let is = |times: f64, of: fn(&Answer) -> f64| {
            self.seen >= times * self.told && many().all(|answer| lacks(answer, of(answer), times, granted))
        };
        let is_false =
            is(FALSE, |answer| answer.busy) || many().count() >= WAITED && is(FALSE, |answer| answer.seen);
        if is_false || self.grows(FALSE) {
            Judgement::False
        } else if is(DOUBTED, |answer| answer.busy) || self.grows(DOUBTED) {
            Judgement::Doubted
        } else {
            Judgement::Fair
        }
    }

    /// Whether so many times as much is seen more of each longer contrast as it tells more than the
    /// middle timed answer, and all together tell as little. What is beside the passes is in both,
    /// so that nothing is granted: timed answers of few passes may be shorter than any grant.
    fn grows(&self, times: f64) -> bool {
        let timed = || self.answers.iter().filter(|answer| answer.part == Part::Timed);
        let middle = |of: fn(&Answer) -> f64| crate::quantile::median(&timed().map(of).collect::<Vec<_>>());
        let (Some(busy), Some(told)) = (middle(|answer| answer.busy), middle(|answer| answer.told)) else {
            return false;
        };
        let most = timed().map(|answer| answer.passes).max().unwrap_or_default();
        let is_longer =
            |answer: &&Answer| answer.part == Part::Contrast && answer.passes >= most.saturating_mul(PASSES);
        let longer = || self.answers.iter().filter(is_longer);
        let is_grown = |answer: &Answer| {
            let more = answer.busy - busy;
            more >= GROWN_NS && more >= times * (answer.told - told)
        };
        self.timed >= FEWEST
            && self.seen >= times * self.told
            && longer().count() >= FEWEST
            && longer().all(is_grown)
    }

    /// The worst that holds of each of a [`SHARE`] of the timed answers. What may have been waiting
    /// is held against none of them: it comes in bursts.
    fn of_part(&self, grant: Grant) -> Option<Charge> {
        if !self.is_suspicious_apart() {
            return None;
        }
        let timed = || self.answers.iter().filter(|answer| answer.part == Part::Timed);
        let most = timed().map(|answer| answer.passes).max().unwrap_or_default();
        let is_long = |answer: &&Answer| answer.passes.saturating_mul(2) >= most;
        let is_few = |answer: &&Answer| answer.passes.saturating_mul(PASSES) <= most;
        let is_more = |answer: &&Answer| answer.passes >= most.saturating_mul(PASSES);
        let contrasts = || self.answers.iter().filter(|answer| answer.part == Part::Contrast);
        let others = || self.answers.iter().filter(|answer| answer.part == Part::Other);
        let middle = |untold: Vec<f64>| crate::quantile::median(&untold);
        // Answers of few passes say what a request takes beside its passes. Where a timed one has
        // too few itself, the timed ones say it, and the longer contrasts bear witness.
        let warm = middle(contrasts().filter(is_few).map(untold).collect());
        let cold = || middle(others().filter(is_few).map(untold).collect());
        let (granted, by_contrasts) = match warm.or_else(cold) {
            Some(granted) => (granted, false),
            None if contrasts().any(|answer| is_more(&answer)) => {
                (timed().map(untold).reduce(f64::min)?, true)
            }
            None => return None,
        };
        let granted = (granted * MARGIN).max(grant.paused_ns);
        let fair = |answer: &&Answer| !is_apart(answer, DOUBTED);
        let long = || timed().chain(others()).filter(is_long);
        let fair_pass = long().filter(fair).map(told_of_pass).reduce(f64::min);
        // Where each has a part that is not timed, what most tell of a pass stands for the fair.
        let fair_pass = fair_pass.or_else(|| middle(long().map(told_of_pass).collect()));
        let tells_less = |answer: &Answer| fair_pass.is_none_or(|fair| told_of_pass(answer) * LESS <= fair);
        [FALSE, DOUBTED].into_iter().find_map(|times| {
            let is_wrong =
                |answer: &&Answer| is_apart(answer, times) && lacks(answer, answer.busy, times, granted);
            let timed = || timed().filter(|answer| tells_less(answer));
            let wrong: Vec<&Answer> = match by_contrasts {
                true => timed().filter(|answer| is_apart(answer, times)).collect(),
                false => timed().filter(is_long).filter(is_wrong).collect(),
            };
            let witnesses = match by_contrasts {
                true => wrong.len().min(FEWEST_APART) + contrasts().filter(is_more).filter(is_wrong).count(),
                false => wrong.len() + others().filter(is_long).filter(is_wrong).count(),
            };
            let least = FEWEST + if by_contrasts { 1 } else { 0 };
            let holds =
                wrong.len() >= FEWEST_APART && wrong.len() * SHARE >= self.timed && witnesses >= least;
            holds.then(|| Charge {
                judgement: if times == FALSE { Judgement::False } else { Judgement::Doubted },
                answers: wrong.len(),
                told: wrong.iter().map(|answer| answer.told).sum(),
                seen: wrong.iter().map(|answer| answer.seen).sum(),
            })
        })
    }
}

fn told_of_pass(answer: &Answer) -> f64 {
    answer.told / answer.passes.max(1) as f64
}

fn untold(answer: &Answer) -> f64 {
    (answer.seen - answer.told).max(0.0)
}

fn times(told: f64, seen: f64) -> f64 {
    if told > 0.0 { seen / told } else { f64::INFINITY }
}

/// Whether an answer for itself tells so many times less than was seen of it.
fn is_apart(answer: &Answer, times: f64) -> bool {
    answer.busy > 0.0 && answer.busy >= times * answer.told
}

/// Whether most of what an answer leaves untold remains where `granted` is taken off `of` it.
fn lacks(answer: &Answer, of: f64, times: f64, granted: f64) -> bool {
    let left = of - granted;
    left > 0.0 && left >= (1.0 + LEFT * (times - 1.0)) * answer.told
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const GRANT: Grant = Grant { at_once_ns: 500e3, paused_ns: 500e3 };

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
        account.judgement(GRANT)
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

    /// 12 answers of 100 passes of 100 us, of which `wrong` tell a part, beside as many that warm
    /// up and contrasts of a quarter.
    fn mixed(part_told: f64, wrong: fn(usize) -> bool, passes: u64, contrast: Option<u64>) -> Charge {
        let mut account = Account::default();
        let told = |n| if wrong(n) { part_told } else { 1.0 };
        account.add(answer(1, told(0), 100e3, 100e3, Part::Other));
        for n in 0..12 {
            account.add(answer(passes, told(n + 1), 100e3, 100e3, Part::Other));
            account.add(answer(passes, told(n), 100e3, 100e3, Part::Timed));
        }
        if let Some(passes) = contrast {
            (0..3).for_each(|n| account.add(answer(passes, told(n), 100e3, 100e3, Part::Contrast)));
        }
        account.charge(GRANT)
    }

    #[test]
    fn honest_answers_do_not_make_up_for_a_quarter_that_is_wrong() {
        let [half, quarter, eighth]: [fn(usize) -> bool; 3] = [|n| n % 2 == 0, |n| n % 4 == 0, |n| n == 8];
        for (part_told, wrong, answers, is) in [
            (0.05, half, 6, Judgement::False),
            (0.0, half, 6, Judgement::False),
            (0.3, half, 6, Judgement::Doubted),
            (0.6, half, 12, Judgement::Fair),
            (0.05, quarter, 3, Judgement::False),
            (0.3, quarter, 3, Judgement::Doubted),
            (0.05, eighth, 12, Judgement::Fair),
        ] {
            for contrast in [None, Some(25)] {
                let charge = mixed(part_told, wrong, 100, contrast);
                assert_eq!((charge.judgement, charge.answers), (is, answers), "{part_told} {contrast:?}");
            }
        }
        assert!(mixed(0.05, half, 1, None).judgement <= Judgement::Open, "nothing to compare with");
    }

    #[test]
    fn answers_of_one_pass_are_held_against_longer_ones() {
        let account = |told: fn(usize) -> f64, beside: fn(usize) -> f64| {
            let mut account = Account::default();
            for n in 0..8 {
                account.add(answer(1, told(n), 20e6, beside(n), Part::Timed));
            }
            (0..3).for_each(|n| account.add(answer(4, told(n), 20e6, beside(n), Part::Contrast)));
            account.judgement(GRANT)
        };
        assert_eq!(account(|n| if n % 2 == 0 { 0.05 } else { 1.0 }, |_| 1e5), Judgement::False);
        // A collector that has its turn beside every second request.
        assert_eq!(account(|_| 1.0, |n| if n % 2 == 0 { 30e6 } else { 0.0 }), Judgement::Fair);
    }

    #[test]
    fn what_longer_answers_take_more_is_granted_to_nobody() {
        let account = |told: f64, passes: u64, beside: fn(usize) -> f64| {
            let mut account = Account::default();
            for n in 0..8 {
                account.add(answer(1, told, 100e3, beside(n), Part::Timed));
            }
            (0..3).for_each(|n| account.add(answer(passes, told, 100e3, beside(n), Part::Contrast)));
            account.judgement(Grant { at_once_ns: 3e6, paused_ns: 3e6 })
        };
        assert_eq!(account(0.02, 4, |_| 1e5), Judgement::False, "shorter than any grant");
        assert_eq!(account(0.2, 4, |_| 1e5), Judgement::Doubted);
        assert_eq!(account(0.02, 3, |_| 1e5), Judgement::Open, "no longer than the others");
        assert_eq!(account(1.0, 4, |_| 2e6), Judgement::Fair, "each request takes as much besides");
        assert_eq!(account(1.0, 4, |n| n as f64 * 1e6), Judgement::Fair, "now more and now less");
    }

    #[test]
    fn bursts_beside_the_timed_part_are_granted() {
        // A compiler works beside a third of short answers, for longer than these take.
        let mut account = Account::default();
        for n in 0..12 {
            let beside = if n % 3 == 0 { 64e6 } else { 1e5 };
            account.add(answer(1, 1.0, 1e5, 64e6, Part::Other));
            account.add(answer(40, 1.0, 1e5, beside, Part::Timed));
        }
        assert_eq!(account.judgement(GRANT), Judgement::Fair);
    }

    #[test]
    fn one_that_sets_more_up_than_others_tells_as_much_as_they() {
        // Of every third answer 300 ms are not timed; or its clock is wrong by so much.
        let account = |times: f64, beside_ns: f64| {
            let mut account = Account::default();
            for n in 0..12 {
                let [times, beside_ns] = if n % 3 == 0 { [times, beside_ns] } else { [1.0, 0.0] };
                for part in [Part::Other, Part::Timed] {
                    account.add(answer(40, 1.0 / times, 1e5, 1e5 + beside_ns, part));
                }
            }
            account.add(answer(10, 1.0, 1e5, 1e5, Part::Contrast));
            account.judgement(GRANT)
        };
        assert_eq!(account(1.0, 300e6), Judgement::Fair);
        // All set up, and some more than others.
        let mut varied = Account::default();
        for n in 0..12 {
            let beside_ns = if n % 3 == 0 { 60e6 } else { 20e6 };
            varied.add(answer(40, 1.0, 1e5, beside_ns, Part::Timed));
        }
        (0..3).for_each(|_| varied.add(answer(10, 1.0, 1e5, 20e6, Part::Contrast)));
        assert_eq!(varied.judgement(GRANT), Judgement::Fair);
        assert_eq!(account(20.0, 0.0), Judgement::False);
        assert_eq!(account(3.0, 0.0), Judgement::Doubted);
    }

    #[test]
    fn answers_at_once_behind_others_are_granted_less() {
        let grant = Grant { at_once_ns: 500e3, paused_ns: 3e6 };
        let account = |told: f64, beside_ns: f64| {
            let mut account = Account::default();
            for _ in 0..4 {
                account.add(answer(40, told, 50e3, 200e3, Part::Other));
                account.add(answer(40, told, 50e3, beside_ns, Part::Timed));
            }
            (0..3).for_each(|_| account.add(answer(10, told, 50e3, 200e3, Part::Contrast)));
            account.judgement(grant)
        };
        assert_eq!(account(0.01, 200e3), Judgement::False, "shorter than what a pause may cost");
        assert_eq!(account(0.9, 3e6), Judgement::Fair, "after a pause it reads slowly");
    }

    #[test]
    fn the_warm_up_bears_witness_of_a_single_timed_answer() {
        let account = |told: f64, witnesses: usize| {
            let mut account = Account::default();
            account.add(answer(1, told, 1e5, 1e5, Part::Other));
            (0..witnesses).for_each(|_| account.add(answer(90, told, 1e5, 1e5, Part::Other)));
            account.add(answer(100, told, 1e5, 1e5, Part::Timed));
            account.judgement(GRANT)
        };
        assert_eq!(account(0.02, 2), Judgement::False);
        assert_eq!(account(0.11, 2), Judgement::Doubted);
        assert_eq!(account(1.0, 2), Judgement::Fair);
        assert_eq!(account(0.02, 1), Judgement::Fair, "two answers may both be disturbed");
    }

    #[test]
    fn one_honest_answer_of_many_passes_is_enough_where_few_are_judged() {
        let mut account = Account::default();
        account.add(answer(1, 0.05, 1e6, 100e3, Part::Other));
        (0..2).for_each(|_| account.add(answer(40, 0.05, 1e6, 100e3, Part::Other)));
        account.add(answer(40, 0.05, 1e6, 100e3, Part::Timed));
        assert_eq!(account.judgement(GRANT), Judgement::False);
        account.add(answer(40, 1.0, 1e6, 100e3, Part::Other));
        assert_eq!(account.judgement(GRANT), Judgement::Fair);
        (0..19).for_each(|_| account.add(answer(40, 0.05, 1e6, 100e3, Part::Timed)));
        assert_eq!(account.judgement(GRANT), Judgement::False, "and not where many are");
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
            account.judgement(GRANT)
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
        assert_eq!(account.judgement(Grant { at_once_ns: 1.0, paused_ns: 1.0 }), Judgement::Fair);
        account.add(answer(1, 0.0, 2e9, 0.0, Part::Timed));
        assert_eq!(account.judgement(Grant { at_once_ns: 1.0, paused_ns: 1.0 }), Judgement::False);
        let mut nothing = Account::default();
        (0..9).for_each(|_| nothing.add(answer(1, 0.0, 0.0, 0.0, Part::Timed)));
        assert_eq!(nothing.judgement(Grant { at_once_ns: 1.0, paused_ns: 1.0 }), Judgement::Fair);
    }
}
