//! Time on cores. Work ends on a clock of its own, which runs slower while more workers run than
//! there are cores, and stands while the world is stopped.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::{draw::Draw, machine::Preemption};

/// The clock of work: when does which worker finish?
#[derive(Debug, Default)]
pub struct Cores {
    cores: Option<u32>,
    /// Kept of a core while workers share it.
    kept: f64,
    /// Time on this clock.
    now: f64,
    ends: BinaryHeap<Reverse<(u64, u64, u32)>>,
    turn: u64,
    stopped: bool,
}

impl Cores {
    pub fn new(cores: Option<u32>, switching: f64) -> Cores {
        Cores { cores, kept: 1.0 - switching, ..Cores::default() }
    }

    /// Nanoseconds of work per nanosecond, for each worker that runs.
    fn rate(&self) -> f64 {
        match self.cores {
            _ if self.stopped => 0.0,
            Some(cores) if self.ends.len() > cores as usize => {
                f64::from(cores) / self.ends.len() as f64 * self.kept
            }
            _ => 1.0,
        }
    }

    pub fn now(&self) -> u64 {
        self.now.round() as u64
    }

    pub fn stop(&mut self, stopped: bool) {
        self.stopped = stopped;
    }

    pub fn running(&self) -> usize {
        self.ends.len()
    }

    /// Has a worker run until this time of the clock of work.
    pub fn run_until(&mut self, end: u64, worker: u32) {
        self.turn += 1;
        self.ends.push(Reverse((end, self.turn, worker)));
    }

    /// How long until the next worker finishes.
    pub fn next(&self) -> Option<u64> {
        let Reverse((end, ..)) = self.ends.peek()?;
        let rate = self.rate();
        (rate > 0.0).then(|| ((*end as f64 - self.now).max(0.0) / rate).ceil() as u64)
    }

    /// Lets time pass.
    pub fn pass(&mut self, ns: u64) {
        self.now += ns as f64 * self.rate();
        if let Some(Reverse((end, ..))) = self.ends.peek() {
            // Rounding up must not carry the clock past an end.
            self.now = self.now.min(*end as f64);
        }
    }

    /// Takes the next worker that has finished by now.
    pub fn finished(&mut self) -> Option<u32> {
        let Reverse((end, ..)) = self.ends.peek()?;
        if *end as f64 > self.now {
            return None;
        }
        self.ends.pop().map(|Reverse((_, _, worker))| worker)
    }
}

/// The turns of another process on one core, on the clock of work.
#[derive(Debug, Clone)]
pub struct Turns {
    every: f64,
    length: f64,
    draw: Draw,
    start: u64,
    end: u64,
}

impl Turns {
    pub fn new(preemption: Preemption, seed: u64, worker: u64) -> Turns {
        let mut turns = Turns {
            every: preemption.every_ns,
            length: preemption.for_ns,
            draw: Draw::of(seed, 0x7075_7365 + worker),
            start: 0,
            end: 0,
        };
        turns.draw_next();
        turns
    }

    fn draw_next(&mut self) {
        self.start = self.end + self.draw.exponential(self.every).round() as u64;
        self.end = self.start + self.draw.exponential(self.length).round().max(1.0) as u64;
    }

    /// When work that begins now is done. Questions come in the order of time.
    pub fn done(&mut self, mut now: u64, mut work: u64) -> u64 {
        loop {
            while self.end <= now {
                self.draw_next();
            }
            if now >= self.start {
                now = self.end;
                continue;
            }
            if now + work <= self.start {
                return now + work;
            }
            work -= self.start - now;
            now = self.end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_workers_on_two_cores_take_half_as_long_again() {
        let mut cores = Cores::new(Some(2), 0.0);
        for worker in 0..3 {
            cores.run_until(1_000, worker);
        }
        assert_eq!(cores.next(), Some(1_500));
        cores.pass(1_500);
        assert_eq!(std::iter::from_fn(|| cores.finished()).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn another_process_takes_its_share() {
        let mut turns = Turns::new(Preemption { every_ns: 1_000.0, for_ns: 1_000.0 }, 1, 0);
        let end = turns.done(0, 10_000_000);
        assert!((end as f64 / 20_000_000.0 - 1.0).abs() < 0.05, "{end}");
    }
}
