//! Measures one cell: verify, pilot, warm-up, rounds, restarts, stop. All its rows are alive at
//! once and measured in turn.

use std::io;

use taskscale_model::{
    protocol::MAX_INTEGER,
    run_file::{Kind, Record, RoundRecord, SampleRecord, Stop},
};
use taskscale_stats::{
    confidence::CONFIDENCE,
    independent::independent,
    quantile,
    rounds::Rounds,
    sign,
    stop::{Decision, Rule as StopRule},
};

use crate::{
    calibrate::{self, Pilot},
    count,
    fault::Fault,
    limits::Limits,
    plan::Cell,
    row::{Ask, Row, World},
    schedule::{Round, Schedule},
    warmup::{Allowance, warm_up},
};

/// How many times the wanted length a row's sample may last for the sake of a faster row.
const LONGEST: u64 = 8;

/// One round in this many also asks for the share of creation. Its clock readings would burden the
/// timed samples.
const PHASES_EVERY: u64 = 5;

/// How many times its time a cell may last before a round is broken off in the middle.
const OVERRUN: f64 = 1.5;

/// Measures `cell` for about `time_ns`. Returns what an iteration of each measured row cost, in
/// their order, for the forecast of larger sizes.
pub(crate) fn measure(
    cell: &Cell,
    limits: &Limits,
    time_ns: u64,
    world: &mut World<'_, '_>,
) -> io::Result<Vec<Option<f64>>> {
    let mut measuring = Measuring {
        rows: cell.measured().map(|row| Row::new(&row.record, cell.rule_of(&row.record))).collect(),
        cell,
        limits,
        started_ns: world.clock.now_ns(),
        time_ns,
    };
    measuring.prepare(world)?;
    let stop = measuring.rounds(world)?;
    let measured: Vec<bool> =
        measuring.rows.iter().map(|row| row.is_alive() && !row.timed.is_empty()).collect();
    for row in &mut measuring.rows {
        row.finish(stop, world)?;
    }
    // Counting comes last: it must not run beside what is timed.
    let rows = measuring.rows.iter().zip(measured).filter(|(_, measured)| *measured).map(|(row, _)| row);
    count::rows(rows, world)?;
    Ok(measuring.rows.iter().map(|row| row.iteration_wall_ns).collect())
}

struct Measuring<'p, 'l> {
    cell: &'p Cell,
    limits: &'l Limits,
    rows: Vec<Row<'p>>,
    started_ns: u64,
    time_ns: u64,
}

impl Measuring<'_, '_> {
    /// Starts and verifies all rows and chooses their iterations.
    fn prepare(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        self.start(&all, world)?;
        for row in &mut self.rows {
            if world.listener.interrupted() {
                return Ok(());
            }
            let seed = world.rng.u64(0..=MAX_INTEGER);
            // Answers come first: a row that does not do its work is not worth a pilot.
            row.ask(Ask { kind: Kind::Verify, round: 0, iterations: 1, seed }, world)?;
        }
        self.choose_iterations(world)
    }

    fn choose_iterations(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let mut pilots: Vec<Option<(u64, u64)>> = Vec::new();
        let mut allowance = Allowance::new(&self.rows, self.limits, self.time_ns);
        for row in &mut self.rows {
            let started_ns = world.clock.now_ns();
            pilots.push(pilot(row, self.limits.sample_ns, &allowance, world)?);
            allowance.spent(row, world.clock.now_ns() - started_ns);
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

    /// The number that rows divided by one another share: that of their baseline.
    fn comparison_of(&self, index: usize) -> u64 {
        self.rows[index].record.baseline.unwrap_or(self.rows[index].record.row)
    }

    fn rounds(&mut self, world: &mut World<'_, '_>) -> io::Result<Stop> {
        let mut schedule = Schedule::new(world.rng.u64(..), self.rows.len(), self.limits.restart_every);
        let rule = StopRule {
            precision: (self.limits.precision > 0.0).then_some(self.limits.precision),
            max_rounds: usize::try_from(self.limits.samples).unwrap_or(usize::MAX),
        };
        world.clock.disturbance();
        let mut looked_ns = world.clock.now_ns();
        loop {
            let round = schedule.next_round();
            let round_started_ns = world.clock.now_ns();
            if round.restart {
                let alive: Vec<usize> =
                    round.order.iter().copied().filter(|&index| self.rows[index].is_alive()).collect();
                self.start(&alive, world)?;
            }
            if round.restart || round.number == 0 {
                let allowance = Allowance::new(&self.rows, self.limits, self.time_ns);
                warm_up(&mut self.rows, &round, allowance, world)?;
            }
            if let Some(stop) = self.one_round(&round, world)? {
                return Ok(stop);
            }
            let disturbance = world.clock.disturbance();
            let since_ns = std::mem::replace(&mut looked_ns, world.clock.now_ns());
            world.journal.append(&Record::Round(RoundRecord {
                table: self.cell.table.clone(),
                size: self.cell.size,
                round: round.number,
                disturbance,
                wall_ns: Some(looked_ns - since_ns),
            }))?;
            if self.rows.iter().all(|row| !row.is_alive()) {
                return Ok(Stop::Samples);
            }
            let done = usize::try_from(round.number + 1).unwrap_or(usize::MAX);
            let observations = self.observations(done);
            let widths = if rule.is_look(observations) { self.half_widths() } else { Vec::new() };
            match rule.decide(done, observations, &widths) {
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
        // Judged rows need no share of creation: a verdict rests on CPU time alone.
        let with_phases = self.limits.judged_at.is_none() && round.number % PHASES_EVERY == PHASES_EVERY / 2;
        let kinds = if with_phases { &[Kind::Timed, Kind::Phases][..] } else { &[Kind::Timed][..] };
        for &kind in kinds {
            for &index in &round.order {
                if world.listener.interrupted() {
                    return Ok(Some(Stop::Interrupted));
                }
                // The first round is finished however long it takes: a late figure is better than
                // none.
                if round.number > 0 && world.clock.now_ns() >= broken_off_ns {
                    return Ok(Some(Stop::MaxTime));
                }
                let row = &mut self.rows[index];
                if kind == Kind::Phases && !row.tells_phases {
                    continue;
                }
                row.wake(round, world)?;
                let iterations = round.iterations(row.iterations);
                row.ask(Ask { kind, round: round.number, iterations, seed: round.seed }, world)?;
            }
        }
        Ok(None)
    }

    /// Starts fresh processes for these rows, in this order. They end and come up side by side.
    fn start(&mut self, order: &[usize], world: &mut World<'_, '_>) -> io::Result<()> {
        for &index in order {
            self.rows[index].dismiss();
        }
        for &index in order {
            if world.listener.interrupted() {
                return Ok(());
            }
            self.rows[index].start(world)?;
        }
        for &index in order {
            self.rows[index].shake_hands(world)?;
        }
        Ok(())
    }

    /// The number of observations after `rounds`: processes that have had all their rounds, or
    /// rounds where no process restarts.
    fn observations(&self, rounds: usize) -> usize {
        match usize::try_from(self.limits.restart_every) {
            Ok(0) | Err(_) => rounds,
            // Between two restarts the answer would be the same as at the last one, so there is no
            // look.
            Ok(every) if rounds.is_multiple_of(every) => rounds / every,
            Ok(_) => 0,
        }
    }

    /// The width of each row's interval. The stop rule does not learn what the interval says.
    fn half_widths(&self) -> Vec<Option<f64>> {
        let alive = self.rows.iter().filter(|row| row.is_alive());
        let counts = |row: &&Row<'_>| self.limits.judged_at.is_none() || row.record.baseline.is_some();
        alive.filter(counts).map(|row| self.half_width(row)).collect()
    }

    fn half_width(&self, row: &Row<'_>) -> Option<f64> {
        let base =
            row.record.baseline.and_then(|number| self.rows.iter().find(|other| other.record.row == number));
        if let Some(base) = base {
            let rounds = Rounds::of(base.timed.iter().copied(), row.timed.iter().copied());
            let confidence = self.limits.judged_at.unwrap_or(CONFIDENCE);
            return rounds.paired(confidence).map(|paired| paired.half_width);
        }
        let processes: Vec<u64> = row.timed.iter().map(|timed| timed.process).collect();
        let values: Vec<f64> = row.timed.iter().map(|timed| timed.value.ln()).collect();
        let values = quantile::sorted(&independent(&processes, &values));
        let (low, high) = sign::sign_interval(&values, CONFIDENCE)?;
        Some((high - low) / 2.0)
    }
}

/// Finds iterations that last long enough; `None` where the row died or the run was interrupted.
/// Code that is compiled while it runs goes on until it has levelled off, within `allowance`: a
/// compiled JVM is ten times as fast as a fresh one, and its samples would be a tenth as long.
fn pilot(
    row: &mut Row<'_>,
    sample_ns: u64,
    allowance: &Allowance,
    world: &mut World<'_, '_>,
) -> io::Result<Option<(u64, u64)>> {
    let target = calibrate::target_ns(sample_ns, row.resolution_ns);
    let started_ns = world.clock.now_ns();
    let mut iterations = 1;
    loop {
        if world.listener.interrupted() {
            return Ok(None);
        }
        let ask = Ask { kind: Kind::Pilot, round: 0, iterations, seed: world.rng.u64(0..=MAX_INTEGER) };
        let Some(SampleRecord { wall_ns, .. }) = row.ask(ask, world)? else { return Ok(None) };
        match calibrate::next_pilot(iterations, wall_ns, target) {
            Pilot::Try(next) => iterations = next,
            Pilot::Enough if allowance.goes_on(row, world.clock.now_ns() - started_ns) => (),
            Pilot::Enough => return Ok(Some((iterations, wall_ns))),
            Pilot::Stuck => {
                row.fail(&Fault::does_not_repeat(iterations, wall_ns), world)?;
                return Ok(None);
            }
        }
    }
}
