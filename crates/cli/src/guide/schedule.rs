//! How long each program may take, and which are started again. The first sitting of each is of one
//! length; what is left of the time goes to programs with too few rounds for an interval, the
//! cheapest first.

use taskscale_stats::sign::FEWEST;

/// Rounds of a program at most, where nobody asked for more time.
pub const ROUNDS: u64 = 100;
/// Seconds of a sitting, where nobody asked for more time. 24 of 27 programs have six rounds by
/// then on two shared cores.
const SITTING_S: f64 = 5.0;
/// The part of the time that is for the first sittings.
const FIRST: f64 = 0.75;

/// What was asked for, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Seconds after which nothing is started again.
    pub budget_s: f64,
    /// Seconds of a first sitting.
    pub sitting_s: f64,
    /// Rounds of a sitting at most.
    pub rounds: u64,
}

impl Plan {
    /// Shares the time among so many programs.
    pub fn of(programs: usize, max_time_s: Option<f64>, rounds: Option<u64>) -> Self {
        let sitting_s = max_time_s.map_or(SITTING_S, |time_s| time_s * FIRST / programs.max(1) as f64);
        let budget_s = max_time_s.unwrap_or(SITTING_S / FIRST * programs as f64);
        // Whoever asks for more time wants more rounds.
        let rounds = rounds.unwrap_or(if max_time_s.is_some() { 1_000 } else { ROUNDS });
        Plan { budget_s, sitting_s, rounds }
    }
}

/// What is known of a program after its first sitting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    pub rounds: u64,
    pub took_s: f64,
}

/// The program to start again, by its place, and its rounds; `None` where none lacks rounds or fits
/// into what is left.
pub fn again(seen: &[Option<Seen>], most: u64, left_s: f64) -> Option<(usize, u64)> {
    let wanted = (FEWEST as u64).min(most);
    let lacking = seen.iter().enumerate().filter_map(|(place, seen)| {
        let seen = seen.filter(|seen| seen.rounds > 0 && seen.rounds < wanted)?;
        let rounds = wanted - seen.rounds;
        Some((place, rounds, rounds as f64 * seen.took_s / seen.rounds as f64))
    });
    let cheapest = lacking.min_by(|one, other| one.2.total_cmp(&other.2));
    cheapest.filter(|(.., takes_s)| *takes_s <= left_s).map(|(place, rounds, _)| (place, rounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_shared_among_programs() {
        let plan = Plan::of(27, None, None);
        assert_eq!((plan.sitting_s, plan.budget_s, plan.rounds), (5.0, 180.0, 100));
        let plan = Plan::of(2, Some(80.0), None);
        assert_eq!((plan.sitting_s, plan.budget_s, plan.rounds), (30.0, 80.0, 1_000));
        assert_eq!(Plan::of(1, None, Some(3)).rounds, 3);
    }

    #[test]
    fn what_lacks_rounds_is_started_again_the_cheapest_first() {
        let seen = |rounds, took_s| Some(Seen { rounds, took_s });
        let all = [seen(100, 5.0), seen(3, 6.0), None, seen(4, 6.0), seen(0, 9.0)];
        // Two more rounds of 1.5 s; then three of 2 s.
        assert_eq!(again(&all, 100, 3.0), Some((3, 2)));
        assert_eq!(again(&all[..2], 100, 6.0), Some((1, 3)));
        assert_eq!(again(&all[..2], 100, 5.9), None, "it does not fit");
        assert_eq!(again(&all, 3, 100.0), None, "three were asked for");
    }
}
