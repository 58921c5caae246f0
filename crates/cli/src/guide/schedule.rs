//! How long each program may take, and which are started again. The first sitting of each is of one
//! length, in several processes. What is left of the time goes to programs with too few rounds for
//! an interval, the cheapest first, and then to those of which a claim cannot be told.

use taskscale_stats::sign::FEWEST;

/// Rounds of a program at most, where nobody asked for more time.
pub const ROUNDS: u64 = 100;
/// Seconds of a sitting, where nobody asked for more time.
const SITTING_S: f64 = 5.0;
/// Processes of a sitting. Rounds of one process share its heap and its place in memory: a
/// difference of layouts was 1 ns in all of 100 rounds of one process, and 5 ns in those of the
/// next. With eight the half-width of an interval is 0.84 standard deviations of processes, with
/// five 1.24.
const STARTS: u64 = 8;
/// The same of a slow program, whose processes have few rounds: with three the half-width is 2.48.
const STARTS_SLOW: u64 = 5;
/// Sittings at most of a program that lacks no rounds. Each is one more look at intervals of 95 %,
/// and with every look more of them exclude by chance what they should not.
const SITTINGS: u64 = 3;
/// The shortest sitting that is worth its start, in seconds.
const SHORTEST_S: f64 = 1.0;
/// The part of the time that is for the first sittings. What is left lets ten of 33 programs sit
/// twice more.
const FIRST: f64 = 0.6;
/// The seconds of a sitting that have to fit into what is left, of one that was to be longer too.
/// Processes of one or two rounds make an interval over processes wider: after a sitting cut to a
/// second five bounds that held could no longer be told.
const WHOLE_S: f64 = 0.9 * SITTING_S;

/// What was asked for, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Seconds after which nothing is started again.
    pub budget_s: f64,
    /// Seconds of a first sitting.
    pub sitting_s: f64,
    /// Rounds of a sitting at most.
    pub rounds: u64,
    /// Whether somebody asked for that number.
    pub is_counted: bool,
}

impl Plan {
    /// Shares the time among so many programs.
    pub fn of(programs: usize, max_time_s: Option<f64>, rounds: Option<u64>) -> Self {
        let sitting_s = max_time_s.map_or(SITTING_S, |time_s| time_s * FIRST / programs.max(1) as f64);
        let budget_s = max_time_s.unwrap_or(SITTING_S / FIRST * programs as f64);
        let is_counted = rounds.is_some();
        // Whoever asks for more time wants more rounds.
        let rounds = rounds.unwrap_or(if max_time_s.is_some() { 1_000 } else { ROUNDS });
        Plan { budget_s, sitting_s, rounds, is_counted }
    }
}

/// What is known of a program after a sitting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Rounds and seconds of all sittings.
    pub rounds: u64,
    pub took_s: f64,
    pub sittings: u64,
    /// How often it was started.
    pub starts: u64,
    /// Whether more rounds may tell what cannot be told.
    pub is_open: bool,
}

/// A sitting that is to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Again {
    pub place: usize,
    pub rounds: u64,
    /// `None` where it ends after its rounds.
    pub seconds: Option<f64>,
}

/// What a sitting may take, or a process of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    pub rounds: u64,
    pub seconds: f64,
}

impl Allowed {
    /// The next process of a sitting, after so many that made so many rounds in so many seconds;
    /// `None` after the last. A program that makes few rounds, or takes long to begin, is started
    /// less often, for longer.
    pub fn next(&self, starts: u64, made: u64, took_s: f64) -> Option<Allowed> {
        let (rounds, seconds) = (self.rounds.saturating_sub(made), self.seconds - took_s);
        let share_s = self.seconds / STARTS as f64;
        let is_slow = made < FEWEST as u64 * starts || took_s > 2.0 * share_s * starts as f64;
        let most = if starts > 0 && is_slow { STARTS_SLOW } else { STARTS };
        // One that has nothing to measure makes no round.
        let is_over = starts > 0 && (made == 0 || rounds == 0 || seconds < share_s / 2.0);
        if is_over || starts >= most {
            return None;
        }
        let left = most - starts;
        Some(Allowed { rounds: rounds.div_ceil(left), seconds: seconds / left as f64 })
    }
}

/// What to start again; `None` where nothing lacks rounds or is open, or nothing fits into what is
/// left.
pub fn again(seen: &[Option<Seen>], plan: &Plan, left_s: f64) -> Option<Again> {
    let known = || seen.iter().enumerate().filter_map(|(place, seen)| Some((place, (*seen)?)));
    let wanted = (FEWEST as u64).min(plan.rounds);
    let lacks = |seen: &Seen| seen.rounds < wanted;
    // Once more is enough: a program that was cut short again does not fit.
    let lacking = known().filter(|(_, seen)| seen.rounds > 0 && lacks(seen) && seen.sittings == 1);
    let lacking = lacking.map(|(place, seen)| {
        let rounds = wanted - seen.rounds;
        (Again { place, rounds, seconds: None }, rounds as f64 * seen.took_s / seen.rounds as f64)
    });
    let cheapest = lacking.min_by(|one, other| one.1.total_cmp(&other.1));
    if let Some((again, _)) = cheapest.filter(|(_, takes_s)| *takes_s <= left_s) {
        return Some(again);
    }
    // Who asks for so many rounds gets no more.
    let seconds = plan.sitting_s.min(left_s);
    if plan.is_counted || seconds < plan.sitting_s.clamp(SHORTEST_S, WHOLE_S) {
        return None;
    }
    let open = known().filter(|(_, seen)| seen.is_open && !lacks(seen) && seen.sittings < SITTINGS);
    // Of several that had as many sittings, the one with the fewest rounds.
    let (place, _) = open.min_by_key(|(_, seen)| (seen.sittings, seen.rounds))?;
    Some(Again { place, rounds: plan.rounds, seconds: Some(seconds) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_among_programs() {
        let plan = Plan::of(27, None, None);
        assert_eq!((plan.sitting_s, plan.budget_s.round(), plan.rounds), (5.0, 225.0, 100));
        let plan = Plan::of(2, Some(80.0), None);
        assert_eq!((plan.sitting_s, plan.budget_s, plan.rounds), (24.0, 80.0, 1_000));
        assert_eq!(Plan::of(1, None, Some(3)).rounds, 3);
    }

    fn seen(rounds: u64, took_s: f64) -> Seen {
        Seen { rounds, took_s, sittings: 1, starts: 5, is_open: false }
    }

    fn lacking(place: usize, rounds: u64) -> Option<Again> {
        Some(Again { place, rounds, seconds: None })
    }

    #[test]
    fn what_lacks_rounds_is_started_again_the_cheapest_first() {
        let plan = Plan::of(4, None, None);
        let some = |rounds, took_s| Some(seen(rounds, took_s));
        let all = [some(100, 5.0), some(3, 6.0), None, some(4, 6.0), some(0, 9.0)];
        // Two more rounds of 1.5 s; then three of 2 s.
        assert_eq!(again(&all, &plan, 3.0), lacking(3, 2));
        assert_eq!(again(&all[..2], &plan, 6.0), lacking(1, 3));
        assert_eq!(again(&all[..2], &plan, 5.9), None, "it does not fit");
        assert_eq!(again(&all, &Plan::of(4, None, Some(3)), 100.0), None, "three were asked for");
        let twice = [Some(Seen { sittings: 2, ..seen(5, 9.0) })];
        assert_eq!(again(&twice, &plan, 100.0), None, "it was cut short twice");
    }

    #[test]
    fn a_sitting_has_several_processes() {
        let all = Allowed { rounds: 100, seconds: 5.0 };
        let of = |rounds, seconds| Some(Allowed { rounds, seconds });
        assert_eq!(all.next(0, 0, 0.0), of(13, 0.625));
        assert_eq!(all.next(1, 10, 0.625), of(13, 0.625), "what the first left is shared");
        assert_eq!(all.next(4, 80, 2.0), of(5, 0.75));
        assert_eq!((all.next(8, 90, 2.0), all.next(4, 100, 2.0), all.next(3, 9, 4.8)), (None, None, None));
        assert_eq!(all.next(1, 0, 0.1), None, "it has nothing to measure");
        assert_eq!(all.next(1, 5, 1.0), of(24, 1.0), "it makes few rounds");
        assert_eq!((all.next(2, 11, 2.0), all.next(5, 29, 4.0)), (of(30, 1.0), None), "five are enough");
        assert_eq!(all.next(1, 20, 2.5), of(20, 0.625), "it takes long to begin");
        let few = Allowed { rounds: 3, seconds: 5.0 };
        assert_eq!((few.next(0, 0, 0.0), few.next(1, 1, 0.5)), (of(1, 0.625), of(1, 1.125)));
    }

    #[test]
    fn time_that_is_left_goes_to_what_cannot_be_told() {
        let plan = Plan::of(4, None, None);
        let open = |rounds, sittings| Some(Seen { sittings, is_open: true, ..seen(rounds, 5.0) });
        let place = |all: &[Option<Seen>], left_s| again(all, &plan, left_s).map(|again| again.place);
        let sitting = Again { place: 1, rounds: 100, seconds: Some(5.0) };
        assert_eq!(again(&[Some(seen(50, 5.0)), open(40, 1)], &plan, 60.0), Some(sitting));
        assert_eq!(place(&[open(40, 1), open(20, 1), open(10, 2)], 60.0), Some(1), "the fewest rounds");
        assert_eq!(place(&[open(40, 3), None], 60.0), None, "three looks are enough");
        assert_eq!(place(&[open(40, 1)], 0.9), None, "no time is left");
        let long = Plan::of(1, Some(60.0), None);
        assert_eq!(again(&[open(40, 1)], &long, 24.0).and_then(|again| again.seconds), Some(24.0));
        assert_eq!(again(&[open(40, 1)], &plan, 4.6).and_then(|again| again.seconds), Some(4.6));
        assert_eq!(place(&[open(40, 1)], 4.4), None, "a part of a sitting blurs what is known");
        assert_eq!(place(&[open(40, 1), Some(seen(3, 1.0))], 60.0), Some(1), "rounds come first");
        assert_eq!(again(&[open(40, 1)], &Plan::of(4, None, Some(40)), 60.0), None, "forty were asked for");
    }
}
