//! Measures one cell: verify, pilot, warm-up, rounds, restarts, stop. All its rows are alive at
//! once and measured one after another. A cell has its time in one go or in turns with others.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
};

use taskscale_model::{
    answer::Rule,
    key::SeriesKey,
    metric::Metric,
    missing::Missing,
    parked::Resident,
    protocol::MAX_INTEGER,
    run_file::{Kind, Record, Role, RoundRecord, RowRecord, Status, Stop},
};
use taskscale_stats::{
    sign,
    stop::{Decision, Rule as StopRule},
};

use crate::{
    ask::Ask,
    beside, calibrate,
    carried::Carried,
    deadline::Deadline,
    forecast::Known,
    graded::Total,
    limits::Limits,
    link::Short,
    observations,
    pilot::pilot,
    plan::Cell,
    row::{DEAR, Row, World},
    schedule::{Round, Schedule},
    until,
    waiting::Waiting,
    warmup::{Allowance, warm_up},
    widths,
};

/// How many times the wanted length a row's sample may last for the sake of a faster row.
const LONGEST: u64 = 8;

/// One round in this many also asks for the share of creation. Its clock readings would burden the
/// timed samples.
const PHASES_EVERY: u64 = 5;

/// Rounds of one process of judged rows whose iterations are longer than samples should be: a pair
/// that mirrors itself.
const DEAR_ROUNDS: u64 = 2;

/// One cell while it is measured.
pub(crate) struct Measuring<'p> {
    pub cell: &'p Cell,
    limits: &'p Limits,
    /// Rows that others are set beside, as `runtime:variant`. They are measured to the end.
    reference: &'p [String],
    rows: Vec<Row<'p>>,
    pub deadline: Deadline,
    schedule: Schedule,
    /// Rounds of one process; 0 never restarts.
    every: u64,
    /// Rounds that are done.
    rounds: u64,
    /// What a turn cost, without what only the first one does: checking answers and choosing
    /// iterations.
    pub turn_ns: u64,
    /// What fresh processes took to come up in the last turn, where that is no part of it: all of
    /// them go on to other sizes.
    pub up_ns: u64,
    /// Rows that took part in it.
    took_part: usize,
    /// What all turns took.
    pub spent_ns: u64,
    /// Whether its time was found too short for a verdict.
    is_short: bool,
    /// The seed of the requests whose answers are held to one another. Where a rule computes them,
    /// each request has a seed of its own.
    shared_seed: Option<u64>,
}

impl<'p> Measuring<'p> {
    /// A cell that has had no turn.
    pub fn new(
        cell: &'p Cell,
        limits: &'p Limits,
        reference: &'p [String],
        deadline: Deadline,
        world: &mut World<'_, '_>,
    ) -> Self {
        let rows: Vec<Row<'p>> =
            cell.measured().map(|row| Row::new(&row.record, cell.rule_of(&row.record))).collect();
        // Where memory is read, each process answers once.
        let fresh = rows.iter().any(Row::is_resident);
        let restart_every = if fresh { 1 } else { limits.restart_every };
        let schedule = Schedule::new(world.rng.u64(..), rows.len(), restart_every);
        let shared_seed = (cell.rule == Rule::Agree).then(|| world.rng.u64(0..=MAX_INTEGER));
        Measuring {
            cell,
            limits,
            reference,
            rows,
            deadline,
            schedule,
            every: limits.restart_every,
            rounds: 0,
            turn_ns: 0,
            up_ns: 0,
            took_part: 0,
            spent_ns: 0,
            is_short: false,
            shared_seed,
        }
    }

    /// Measures the rounds of one process of each row: all rounds where no process restarts.
    /// Returns why the cell ends, if it does.
    pub fn turn(&mut self, known: &[Known], world: &mut World<'_, '_>) -> io::Result<Option<Stop>> {
        world.over_ns = self.deadline.over_ns;
        let began_ns = world.clock.now_ns();
        self.up_ns = 0;
        let open: Vec<usize> = (0..self.rows.len()).filter(|&index| self.rows[index].is_open()).collect();
        let mut prepared_ns = 0;
        if self.rounds == 0 {
            self.start(&open, world)?;
            let started_ns = world.clock.now_ns();
            self.prepare(known, world)?;
            self.renew(world)?;
            self.spare_dear();
            prepared_ns = world.clock.now_ns() - started_ns;
        }
        let mut stop = self.block(world)?;
        if stop.is_none() {
            self.end_narrow(world)?;
            stop = (self.open() == 0).then_some(Stop::Precision);
        }
        let took_ns = world.clock.now_ns() - began_ns;
        if !self.limits.carries() || !self.rows.iter().all(Row::is_passed_on) {
            self.up_ns = 0;
        }
        self.turn_ns = took_ns.saturating_sub(prepared_ns + self.up_ns);
        self.took_part = open.len();
        self.spent_ns += took_ns;
        Ok(stop)
    }

    /// Gives each process fewer rounds where an old side judges rows of which one iteration is
    /// longer than samples should be: two of them last as long as all rounds of others, and a
    /// verdict rests on processes.
    fn spare_dear(&mut self) {
        let is_dear = |row: &Row<'_>| row.is_open() && row.is_dear(row.sample_ns(self.limits));
        if self.limits.judged_at.is_some() && self.rows.iter().any(is_dear) {
            self.every = self.every.min(DEAR_ROUNDS);
            self.schedule.restart_every = self.every;
        }
    }

    /// Ends the rows that are measured enough, so that the seconds go where intervals are wide.
    /// What others are divided by goes on as long as one of them does.
    fn end_narrow(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        if self.limits.turns().is_none() || self.limits.judged_at.is_some() {
            return Ok(());
        }
        let rule = self.rule();
        let turns = usize::try_from(self.turns()).unwrap_or(usize::MAX);
        for index in 0..self.rows.len() {
            let row = &self.rows[index];
            // Widths are looked at last, and of few rows.
            let widths = [widths::of_figure(row), widths::of(&self.rows, row, self.limits)].into_iter();
            if row.is_open() && !self.divides(row) && rule.ends_row(turns, widths) {
                self.rows[index].finish(Stop::Precision, world)?;
            }
        }
        Ok(())
    }

    /// Whether a row that is still measured, or any of another runtime, is divided by this one.
    fn divides(&self, row: &Row<'_>) -> bool {
        let number = Some(row.record.row);
        self.reference.contains(&row.record.key.full_name())
            || self.rows.iter().any(|other| other.is_open() && other.record.baseline == number)
    }

    /// Ends the processes of all rows until the next turn. They end side by side.
    pub fn park(&mut self) {
        for row in &mut self.rows {
            row.dismiss();
        }
        for row in &mut self.rows {
            row.park();
        }
    }

    /// Leaves the processes of all rows to another size of the same table.
    pub fn leave(&mut self, carried: &mut Carried) {
        self.rows.iter_mut().for_each(|row| row.leave(carried));
    }

    /// The rows with figures that a collector's growth is counted of: those at the sizes that `of`
    /// names for their series. Collections are counted at the largest of them.
    pub fn collected<'r>(
        &'r self,
        of: &'r BTreeMap<&SeriesKey, Vec<u64>>,
    ) -> impl Iterator<Item = (&'r Row<'p>, &'static [Metric])> {
        let rows = self.rows.iter().filter(|row| row.tells_collector && row.record.role != Role::Control);
        rows.filter_map(|row| {
            let sizes = of.get(&row.record.key.series)?;
            let is_last = sizes.last() == Some(&self.cell.size);
            let metrics: &[Metric] = if is_last { &[Metric::Bytes, Metric::Gc] } else { &[Metric::Bytes] };
            sizes.contains(&self.cell.size).then_some((row, metrics))
        })
    }

    /// Ends the cell: rows with a round have figures. Counting comes last, since it must not run
    /// beside what is timed.
    pub fn finish(&mut self, stop: Stop, world: &mut World<'_, '_>) -> io::Result<()> {
        let measured: Vec<bool> =
            self.rows.iter().map(|row| row.has_figures() && !row.timed.is_empty()).collect();
        for row in &mut self.rows {
            row.finish(stop, world)?;
        }
        let rows = self.rows.iter().zip(measured).filter(|(_, measured)| *measured).map(|(row, _)| row);
        until::count(rows, self.deadline.counted_ns, world)
    }

    /// Ends the rows that `drop` names: with their figures if they have any, or else for the reason
    /// that it gives.
    pub fn leave_out(
        &mut self,
        drop: &dyn Fn(&RowRecord) -> Option<Missing>,
        world: &mut World<'_, '_>,
    ) -> io::Result<()> {
        for row in &mut self.rows {
            if let Some(why) = drop(row.record) {
                let status = match row.timed.is_empty() {
                    true => Status::Skipped(why),
                    false => Status::Ok { stop: Stop::MaxTime },
                };
                row.end(status, world)?;
            }
        }
        Ok(())
    }

    /// What an iteration of each row cost, in their order, for the forecast of larger sizes.
    pub fn costs(&self) -> Vec<Option<f64>> {
        self.rows.iter().map(|row| row.iteration_wall_ns).collect()
    }

    /// The series that surely wait at this size.
    pub fn waiting(&self) -> impl Iterator<Item = &SeriesKey> {
        self.rows.iter().filter(|row| row.waiting == Waiting::Surely).map(|row| &row.record.key.series)
    }

    /// Measures the rows of these series as what waits, from now on.
    pub fn wait_alike(&mut self, series: &BTreeSet<SeriesKey>) {
        let runs = |row: &&mut Row<'_>| !row.waiting.is() && series.contains(&row.record.key.series);
        let alike = self.rows.iter_mut().filter(runs);
        alike.for_each(|row| (row.waiting, row.iterations) = (Waiting::Alike, 1));
    }

    /// Whether each row waits, in their order, for larger sizes.
    pub fn waits(&self) -> Vec<bool> {
        self.rows.iter().map(|row| row.waiting.is()).collect()
    }

    /// How long each row was waited for in vain, in their order, for the forecast of larger sizes.
    pub fn waited(&self) -> Vec<Option<u64>> {
        self.rows.iter().map(|row| row.waited_ns).collect()
    }

    /// What a process of each row held, in their order, for the forecast of larger sizes.
    pub fn held(&self) -> Vec<Option<Resident>> {
        self.rows.iter().map(|row| row.resident).collect()
    }

    /// The times of one iteration of each row that is or was measured, one value for each process.
    /// A control repeats its baseline and is left out.
    pub fn totals(&self) -> impl Iterator<Item = (&SeriesKey, Total)> {
        let series = self.rows.iter().filter(|row| row.has_figures() && row.record.role != Role::Control);
        series.map(|row| {
            let cpu = observations::of(row, |value| value * self.cell.size.max(1) as f64);
            let wall = observations::walls(row);
            (&row.record.key.series, Total { cpu, wall, waits: row.waiting.is() })
        })
    }

    /// What the last turn cost for each row that took part.
    pub fn row_ns(&self) -> f64 {
        self.turn_ns as f64 / self.took_part.max(1) as f64
    }

    /// The number of processes that each row has had.
    pub fn turns(&self) -> u64 {
        self.rounds.div_ceil(self.every.max(1))
    }

    /// Says once that the cell's time is too short for a verdict.
    pub fn short(&mut self) -> Option<Short> {
        let confidence = self.limits.judged_at.filter(|_| !self.is_short)?;
        let pairs = widths::fewest_pairs(&self.rows, confidence);
        let short = self.deadline.short(pairs, self.turns(), self.spent_ns, self.turn_ns);
        self.is_short = short.is_some();
        short
    }

    /// How many rows are still measured.
    pub fn open(&self) -> usize {
        self.open_records().count()
    }

    /// The rows that are still measured.
    pub fn open_records(&self) -> impl Iterator<Item = &RowRecord> {
        self.rows.iter().filter(|row| row.is_open()).map(|row| row.record)
    }

    /// The mean half-width of the intervals of all rows that are still measured. A row without an
    /// interval counts as 100 %.
    pub fn mean_half_width(&self) -> f64 {
        let widths = widths::of_open(&self.rows, self.limits);
        let sum: f64 = widths.iter().map(|width| width.unwrap_or(1.0).min(1.0)).sum();
        sum / widths.len().max(1) as f64
    }

    /// Verifies all rows and chooses their iterations.
    ///
    /// A row whose single iteration lasts [`DEAR`] samples or more was verified at a smaller size;
    /// its answer is judged in every sample.
    fn prepare(&mut self, known: &[Known], world: &mut World<'_, '_>) -> io::Result<()> {
        let mut verified = false;
        let up_ns = world.clock.now_ns();
        for (row, known) in self.rows.iter_mut().zip(known) {
            row.is_foreseen = known.iteration_wall_ns.is_some();
            if self.limits.until_graded && !row.is_resident() {
                row.waiting = Waiting::begin(known.waits);
            }
        }
        for (index, known) in known.iter().enumerate() {
            if world.listener.interrupted() {
                return Ok(());
            }
            if self.rows[index].is_unprepared() {
                continue;
            }
            let refused = world.agreed.in_vain(&self.rows[index].record.key);
            if let Some(why) = refused.or_else(|| self.in_vain(index, 0)) {
                self.rows[index].end(Status::Skipped(why), world)?;
                continue;
            }
            let given_up_ns = self.deadline.unverified_ns(up_ns, self.lost_ns());
            let row = &mut self.rows[index];
            if world.is_over() || (verified && world.clock.now_ns() >= given_up_ns) {
                row.finish(Stop::MaxTime, world)?;
                continue;
            }
            if known.lasts(DEAR, row.sample_ns(self.limits)) {
                continue;
            }
            let seed = self.shared_seed.unwrap_or_else(|| world.rng.u64(0..=MAX_INTEGER));
            // Answers come first: a row that does not do its work is not worth a pilot.
            row.ask(Ask { kind: Kind::Verify, round: 0, iterations: 1, seed }, world)?;
            verified |= row.is_alive();
        }
        self.choose_iterations(known, world)
    }

    fn choose_iterations(&mut self, known: &[Known], world: &mut World<'_, '_>) -> io::Result<()> {
        let mut pilots: Vec<Option<(u64, u64)>> = Vec::new();
        let mut allowance = Allowance::new(&self.rows, self.limits, self.deadline.time_ns);
        let lost_ns = self.lost_ns();
        let given_up_ns = self.deadline.uncalibrated_ns(world.clock.now_ns());
        for (index, known) in known.iter().enumerate() {
            let started_ns = world.clock.now_ns();
            if self.rows[index].is_unprepared() {
                pilots.push(None);
                continue;
            }
            if let Some(why) = self.in_vain(index, lost_ns) {
                self.rows[index].end(Status::Skipped(why), world)?;
            }
            let row = &mut self.rows[index];
            if world.stop() == Some(Stop::MaxTime)
                || (started_ns >= given_up_ns && pilots.iter().any(Option::is_some))
            {
                row.finish(Stop::MaxTime, world)?;
            }
            let sample_ns = row.sample_ns(self.limits);
            pilots.push(match known.iteration_wall_ns.or(row.verified_wall_ns) {
                // It is measured by single iterations.
                Some(wall_ns) if row.waiting.is() => row.is_alive().then_some((1, wall_ns as u64)),
                // One iteration is long enough, and nothing is compiled: there is nothing to find.
                Some(wall_ns) if !row.record.jit && wall_ns >= DEAR * sample_ns as f64 => {
                    row.is_alive().then_some((1, wall_ns as u64))
                }
                _ => pilot(row, sample_ns, self.shared_seed, &allowance, world)?,
            });
            allowance.spent(row, world.clock.now_ns() - started_ns);
        }
        for index in 0..self.rows.len() {
            let group = self.rows[index].comparison();
            let rows = self.rows.iter().zip(&pilots);
            let same = rows.filter(|(row, _)| row.comparison() == group && !row.waiting.is());
            let piloted: Vec<(u64, u64)> = same.clone().filter_map(|(_, pilot)| *pilot).collect();
            let Some(sample_ns) = same.map(|(row, _)| row.sample_ns(self.limits)).max() else { continue };
            let row = &self.rows[index];
            if row.is_unprepared() || row.waiting.is() {
                continue;
            }
            let target = calibrate::target_ns(sample_ns, row.resolution_ns);
            self.rows[index].iterations = calibrate::shared(&piloted, target, target.saturating_mul(LONGEST));
        }
        Ok(())
    }

    /// Starts anew what has answered and waits: only the first answer of a process tells how long.
    fn renew(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let waits = |index: &usize| self.rows[*index].is_alive() && self.rows[*index].waiting.is();
        let waiting: Vec<usize> = (0..self.rows.len()).filter(waits).collect();
        self.start(&waiting, world)
    }

    /// What requests took that rows failed on.
    fn lost_ns(&self) -> u64 {
        self.rows.iter().map(|row| row.lost_ns).fold(0, u64::saturating_add)
    }

    /// Why a row is not asked: the row that it repeats has failed, or rows that fail have taken all
    /// that they may since `before_ns` were lost.
    fn in_vain(&self, index: usize, before_ns: u64) -> Option<Missing> {
        let record = self.rows[index].record;
        let has_failed = |row: &Row<'_>| matches!(row.status(), Some(Status::Failed(_)));
        if self.rows.iter().any(|other| record.repeats(other.record.row) && has_failed(other)) {
            return Some(Missing::new("the row that it repeats failed", "see why that row failed"));
        }
        let lost_ns = self.lost_ns() - before_ns;
        (lost_ns >= self.limits.lost_ns()).then(|| {
            let reason =
                format!("not asked: rows that failed had taken {:.0} s by then", lost_ns as f64 / 1e9);
            Missing::new(reason, "name others with --variant or --runtime, or raise --max-time")
        })
    }

    fn rule(&self) -> StopRule {
        StopRule {
            precision: (self.limits.precision > 0.0).then_some(self.limits.precision),
            max_rounds: usize::try_from(self.limits.samples).unwrap_or(usize::MAX),
        }
    }

    fn block(&mut self, world: &mut World<'_, '_>) -> io::Result<Option<Stop>> {
        let rule = self.rule();
        world.clock.disturbance();
        let mut looked_ns = world.clock.now_ns();
        loop {
            let round = self.next_round();
            let round_started_ns = world.clock.now_ns();
            if round.restart {
                let open: Vec<usize> =
                    round.order.iter().copied().filter(|&index| self.rows[index].is_open()).collect();
                self.start(&open, world)?;
            }
            let unprepared = self.rows.iter().all(Row::is_unprepared);
            if (round.restart || round.number == 0) && !unprepared {
                let allowance = Allowance::new(&self.rows, self.limits, self.deadline.time_ns);
                warm_up(&mut self.rows, &round, allowance, world)?;
            }
            if let Some(stop) = self.one_round(&round, world)? {
                return Ok(Some(stop));
            }
            self.rounds = round.number + 1;
            let disturbance = world.clock.disturbance();
            let since_ns = std::mem::replace(&mut looked_ns, world.clock.now_ns());
            world.journal.append(&Record::Round(RoundRecord {
                table: self.cell.table.clone(),
                size: self.cell.size,
                round: round.number,
                disturbance,
                wall_ns: Some(looked_ns - since_ns),
            }))?;
            if self.open() == 0 {
                return Ok(Some(Stop::Samples));
            }
            let done = usize::try_from(self.rounds).unwrap_or(usize::MAX);
            let observations = self.observations(done);
            let widths = if rule.is_look(observations) {
                widths::of_open(&self.rows, self.limits)
            } else {
                Vec::new()
            };
            match rule.decide(done, observations, &widths) {
                Decision::Precise => return Ok(Some(Stop::Precision)),
                Decision::RoundLimit => return Ok(Some(Stop::Samples)),
                Decision::Continue => (),
            }
            // Half a round more than the time allows is nearer to it than half a round less.
            let now_ns = world.clock.now_ns();
            if now_ns + (now_ns - round_started_ns) / 2 >= self.deadline.stop_ns {
                return Ok(Some(Stop::MaxTime));
            }
            if self.every > 0 && self.rounds.is_multiple_of(self.every) {
                return Ok(None);
            }
        }
    }

    /// The next round. Where answers are held to one another, two rounds that mirror each other
    /// have one seed: a row that stands alone then gives each answer twice, as a rule in two
    /// processes.
    fn next_round(&mut self) -> Round {
        let mut round = self.schedule.next_round();
        if let Some(seed) = &mut self.shared_seed {
            match round.number.is_multiple_of(2) {
                true => *seed = round.seed,
                false => round.seed = *seed,
            }
        }
        round
    }

    fn one_round(&mut self, round: &Round, world: &mut World<'_, '_>) -> io::Result<Option<Stop>> {
        // Judged rows need no share of creation: a verdict rests on CPU time alone.
        let with_phases = self.limits.judged_at.is_none() && round.number % PHASES_EVERY == self.phases_at();
        let kinds = if with_phases { &[Kind::Timed, Kind::Phases][..] } else { &[Kind::Timed][..] };
        for &kind in kinds {
            for &index in &round.order {
                if let Some(stop) = world.stop() {
                    return Ok(Some(stop));
                }
                // The first round is finished however long it takes, unless the user has said how
                // long that may be: a late figure is better than none.
                if round.number > 0 && world.clock.now_ns() >= self.deadline.broken_off_ns {
                    return Ok(Some(Stop::MaxTime));
                }
                let row = &mut self.rows[index];
                let dear = row.is_dear(row.sample_ns(self.limits));
                // Where a sample is dear, the processes that an interval needs come first, unless
                // the table is about the parts.
                let too_early = dear && !self.cell.splits && round.number < sign::FEWEST as u64;
                if kind == Kind::Phases && (!row.tells_phases || too_early || row.waiting.is()) {
                    continue;
                }
                // Both sides of a judged row pause alike. Waking Go took half of its time.
                if self.limits.judged_at.is_none() {
                    row.wake(round, world)?;
                }
                let iterations = round.iterations(row.iterations);
                row.ask(Ask { kind, round: round.number, iterations, seed: round.seed }, world)?;
                row.contrast(round, world)?;
            }
        }
        Ok(None)
    }

    /// Which of [`PHASES_EVERY`] rounds has phases. A table of the parts of a cost has them as soon
    /// as each row has a figure.
    fn phases_at(&self) -> u64 {
        if self.cell.splits { 1 } else { PHASES_EVERY / 2 }
    }

    /// Starts fresh processes for these rows, in this order. They end and come up side by side.
    fn start(&mut self, order: &[usize], world: &mut World<'_, '_>) -> io::Result<()> {
        let began_ns = world.clock.now_ns();
        for &index in order {
            self.rows[index].dismiss();
        }
        for &index in order {
            if world.is_over() {
                return Ok(());
            }
            self.rows[index].start(world)?;
        }
        for &index in order {
            if world.is_over() {
                return Ok(());
            }
            self.rows[index].shake_hands(world)?;
        }
        if self.limits.judged_at.is_some() {
            beside::keep(&mut self.rows, order, world.rng.u64(..));
        }
        self.up_ns += world.clock.now_ns() - began_ns;
        Ok(())
    }

    /// The number of observations after `rounds`: processes that have had all their rounds, or
    /// rounds where no process restarts.
    fn observations(&self, rounds: usize) -> usize {
        match usize::try_from(self.every) {
            Ok(0) | Err(_) => rounds,
            // Between two restarts the answer would be the same as at the last one, so there is no
            // look.
            Ok(every) if rounds.is_multiple_of(every) => rounds / every,
            Ok(_) => 0,
        }
    }
}
