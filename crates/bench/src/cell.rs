//! One cell: verify, pilot, warm-up, rounds, restarts, stop. All its rows are alive at once and measured in turn.

use std::io;

use taskscale_model::{
    protocol::MAX_SEED,
    run_file::{Kind, Record, RoundRecord, SampleRecord, Stop},
};
use taskscale_stats::{
    paired::PairedRatio,
    quantile,
    sign,
    stop::{Decision, Rule as StopRule},
    warmup,
};

use crate::{
    calibrate::{self, Pilot},
    fault::Fault,
    limits::Limits,
    plan::Cell,
    row::{Ask, Row, World, per_task},
    schedule::{Round, Schedule},
};

/// Confidence of the intervals whose width may end a cell: that of the report.
const CONFIDENCE: f64 = 0.95;

/// No row's sample may be longer than this many times the wanted length for the sake of a faster row.
const LONGEST: u64 = 8;

/// Warm-up ends here even where a row never settles (a growing heap, a noisy machine).
const MAX_WARMUP: usize = 20;

/// All warm-up of a process together takes at most this share of the cell's time.
const WARMUP_SHARE: f64 = 0.2;

/// One round in five also asks for the share of creation, whose clock reads would burden the timed samples.
const PHASES_EVERY: u64 = 5;

/// A cell may overrun its time by half before a round is broken off in the middle.
const OVERRUN: f64 = 1.5;

/// Measures `cell` for about `time_ns`; returns what each row's iteration cost, for the forecast of larger sizes.
pub(crate) fn measure<'p>(
    cell: &'p Cell,
    limits: &Limits,
    time_ns: u64,
    world: &mut World<'_, '_>,
) -> io::Result<Vec<(&'p str, Option<f64>)>> {
    let mut measuring = Measuring {
        rows: cell.rows.iter().filter(|row| row.skip.is_none()).map(|row| Row::new(row, cell.rule)).collect(),
        cell,
        limits,
        started_ns: world.clock.now_ns(),
        time_ns,
    };
    measuring.prepare(world)?;
    let stop = measuring.rounds(world)?;
    for row in &mut measuring.rows {
        row.finish(stop, world)?;
    }
    Ok(measuring.rows.iter().map(|row| (row.record.variant.as_str(), row.iteration_wall_ns)).collect())
}

struct Measuring<'p, 'l> {
    cell: &'p Cell,
    limits: &'l Limits,
    rows: Vec<Row<'p>>,
    started_ns: u64,
    time_ns: u64,
}

impl Measuring<'_, '_> {
    /// Starts and verifies all rows, chooses their iterations, warms them up.
    fn prepare(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        for row in &mut self.rows {
            if world.observer.interrupted() {
                return Ok(());
            }
            row.start(world)?;
            let seed = world.rng.u64(0..=MAX_SEED);
            // Answers first: a row that does not do its work is not worth a pilot.
            row.ask(Ask { kind: Kind::Verify, round: 0, iterations: 1, seed }, world)?;
        }
        self.choose_iterations(world)?;
        self.warm_up(0, world)
    }

    fn choose_iterations(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let mut pilots: Vec<Option<(u64, u64)>> = Vec::new();
        for row in &mut self.rows {
            pilots.push(pilot(row, self.limits.sample_ns, world)?);
        }
        for index in 0..self.rows.len() {
            let group = self.comparison_of(index);
            let same: Vec<(u64, u64)> = (0..self.rows.len())
                .filter(|&other| self.comparison_of(other) == group)
                .filter_map(|other| pilots[other])
                .collect();
            let target = calibrate::target_ns(self.limits.sample_ns, self.rows[index].resolution_ns);
            self.rows[index].iterations = calibrate::shared(&same, target, target.saturating_mul(LONGEST));
        }
        Ok(())
    }

    /// Rows that are divided by one another share this number: that of their baseline.
    fn comparison_of(&self, index: usize) -> u64 {
        self.rows[index].record.baseline.unwrap_or(self.rows[index].record.row)
    }

    fn warm_up(&mut self, round: u64, world: &mut World<'_, '_>) -> io::Result<()> {
        let alive = self.rows.iter().filter(|row| row.is_alive()).count().max(1);
        let share_ns = (self.time_ns as f64 * WARMUP_SHARE / alive as f64) as u64;
        for row in &mut self.rows {
            let until_ns = world.clock.now_ns().saturating_add(share_ns);
            let mut samples = Vec::new();
            while samples.len() < MAX_WARMUP && !warmup::is_stable(&samples) && !world.observer.interrupted() {
                let ask = Ask {
                    kind: Kind::Warmup,
                    round,
                    iterations: row.iterations,
                    seed: world.rng.u64(0..=MAX_SEED),
                };
                let Some(sample) = row.ask(ask, world)? else { break };
                samples.push(per_task(&sample));
                if world.clock.now_ns() >= until_ns {
                    break;
                }
            }
        }
        Ok(())
    }

    fn rounds(&mut self, world: &mut World<'_, '_>) -> io::Result<Stop> {
        let mut schedule = Schedule::new(world.rng.u64(..), self.rows.len(), self.limits.restart_every);
        let rule = StopRule {
            precision: (self.limits.precision > 0.0).then_some(self.limits.precision),
            max_rounds: usize::try_from(self.limits.samples).unwrap_or(usize::MAX),
        };
        world.clock.disturbance();
        loop {
            let round = schedule.next_round();
            let round_started_ns = world.clock.now_ns();
            if round.restart {
                self.restart(round.number, world)?;
            }
            if let Some(stop) = self.one_round(&round, world)? {
                return Ok(stop);
            }
            let disturbance = world.clock.disturbance();
            world.journal.append(&Record::Round(RoundRecord {
                table: self.cell.table.clone(),
                size: self.cell.size,
                round: round.number,
                disturbance,
            }))?;
            if self.rows.iter().all(|row| !row.is_alive()) {
                return Ok(Stop::Samples);
            }
            let done = usize::try_from(round.number + 1).unwrap_or(usize::MAX);
            let widths = if rule.is_look(done) { self.half_widths() } else { Vec::new() };
            match rule.decide(done, &widths) {
                Decision::Precise => return Ok(Stop::Precision),
                Decision::RoundLimit => return Ok(Stop::Samples),
                Decision::Continue => (),
            }
            // Half a round more than the time allows is nearer to it than half a round less.
            let now_ns = world.clock.now_ns();
            if now_ns + (now_ns - round_started_ns) / 2 >= self.started_ns.saturating_add(self.time_ns) {
                return Ok(Stop::MaxTime);
            }
        }
    }

    fn one_round(&mut self, round: &Round, world: &mut World<'_, '_>) -> io::Result<Option<Stop>> {
        let broken_off_ns = self.started_ns.saturating_add((self.time_ns as f64 * OVERRUN) as u64);
        let with_phases = round.number % PHASES_EVERY == PHASES_EVERY / 2;
        let kinds = if with_phases { &[Kind::Timed, Kind::Phases][..] } else { &[Kind::Timed][..] };
        for &kind in kinds {
            for &index in &round.order {
                if world.observer.interrupted() {
                    return Ok(Some(Stop::Interrupted));
                }
                // The first round is finished whatever it takes: a figure late is better than none.
                if round.number > 0 && world.clock.now_ns() >= broken_off_ns {
                    return Ok(Some(Stop::MaxTime));
                }
                let row = &mut self.rows[index];
                if kind == Kind::Phases && !row.tells_phases {
                    continue;
                }
                let iterations = round.iterations(row.iterations);
                row.ask(Ask { kind, round: round.number, iterations, seed: round.seed }, world)?;
            }
        }
        Ok(None)
    }

    fn restart(&mut self, round: u64, world: &mut World<'_, '_>) -> io::Result<()> {
        for row in self.rows.iter_mut().filter(|row| row.is_alive()) {
            row.start(world)?;
        }
        self.warm_up(round, world)
    }

    /// How wide each row's interval is; what it says stays unknown to the stop rule.
    fn half_widths(&self) -> Vec<Option<f64>> {
        self.rows.iter().filter(|row| row.is_alive()).map(|row| self.half_width(row)).collect()
    }

    fn half_width(&self, row: &Row<'_>) -> Option<f64> {
        let base = row.record.baseline.and_then(|number| self.rows.iter().find(|other| other.record.row == number));
        if let Some(base) = base {
            let (a, b) = same_rounds(&base.timed, &row.timed);
            return PairedRatio::of(&a, &b, CONFIDENCE).map(|paired| paired.half_width);
        }
        let values: Vec<f64> = row.timed.iter().map(|(_, value)| value.ln()).collect();
        let (low, high) = sign::sign_interval(&quantile::sorted(&values), CONFIDENCE)?;
        Some((high - low) / 2.0)
    }
}

/// The values of the rounds that both rows have.
fn same_rounds(a: &[(u64, f64)], b: &[(u64, f64)]) -> (Vec<f64>, Vec<f64>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let mut b = b.iter().peekable();
    for (round, value) in a {
        while b.next_if(|(other, _)| other < round).is_some() {}
        if let Some((_, other)) = b.next_if(|(other, _)| other == round) {
            left.push(*value);
            right.push(*other);
        }
    }
    (left, right)
}

/// Finds iterations that last long enough; `None` when the row died of it.
fn pilot(row: &mut Row<'_>, sample_ns: u64, world: &mut World<'_, '_>) -> io::Result<Option<(u64, u64)>> {
    let target = calibrate::target_ns(sample_ns, row.resolution_ns);
    let mut iterations = 1;
    loop {
        if world.observer.interrupted() {
            return Ok(None);
        }
        let ask = Ask { kind: Kind::Pilot, round: 0, iterations, seed: world.rng.u64(0..=MAX_SEED) };
        let Some(SampleRecord { wall_ns, .. }) = row.ask(ask, world)? else { return Ok(None) };
        match calibrate::next_pilot(iterations, wall_ns, target) {
            Pilot::Try(next) => iterations = next,
            Pilot::Enough => return Ok(Some((iterations, wall_ns))),
            Pilot::Stuck => {
                row.fail(&Fault::does_not_repeat(iterations, wall_ns), world)?;
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rounds_that_both_have_are_paired() {
        let a = [(0, 1.0), (1, 2.0), (3, 4.0)];
        let b = [(1, 20.0), (2, 30.0), (3, 40.0), (4, 50.0)];
        assert_eq!(same_rounds(&a, &b), (vec![2.0, 4.0], vec![20.0, 40.0]));
    }
}
