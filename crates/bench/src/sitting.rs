//! One suite: its cells have turns within the budget, or their time one after another.

use std::{collections::BTreeSet, io};

use taskscale_model::{
    key::SeriesKey,
    missing::Missing,
    run_file::{Record, Role, RowRecord, Stop},
    suite::LeaveOut,
};

use crate::{
    cell::Measuring,
    deadline::Deadline,
    fit::{self, Budget, Need},
    forecast::Forecast,
    graded::{self, Looks, Planned, Totals},
    larger::{self, Left},
    limits::Limits,
    link::Event,
    plan::{Cell, PlannedSuite, RowState},
    row::World,
    said::{announce, skip_rows},
    turns::{self, Standing},
    until,
    warmup::settle_ns,
};

/// How many times its budget a suite may take before a round is broken off in the middle.
const OVERRUN: f64 = 1.1;

/// How many times its budget a suite may take before rows without a figure are given up. 95 rows on
/// a machine with seven others at work took 109 s of 40 to come up and to be checked.
const GIVEN_UP: u64 = 2;

/// The numbers of a suite's cells among those of the run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    /// Cells of the suites before.
    pub before: u64,
    /// Cells of the run.
    pub of: u64,
    /// Rows of the run.
    pub rows: u64,
}

/// Measures all cells of `suite`, and further ones where the growth of a series is open and time is
/// left. They continue `numbers`.
pub(crate) fn measure(
    suite: &mut PlannedSuite,
    numbers: &mut Numbers,
    world: &mut World<'_, '_>,
) -> io::Result<()> {
    // Sizes are added once more before growth is looked at, where too few were answered.
    let mut further = [const { Vec::new() }; larger::TIMES + 1];
    let limits = suite.limits;
    let started_ns = world.clock.now_ns();
    let cells = suite.cells.iter().filter(|cell| cell.measured().next().is_some()).count() as u64;
    let mut sitting = Sitting {
        limits: &limits,
        leave_out: &suite.leave_out,
        reference: &suite.reference,
        numbers: *numbers,
        started_ns,
        seats: suite.cells.iter_mut().map(Seat::Waits).collect(),
        forecast: Forecast::default(),
        present: None,
        passing: Vec::new(),
        up_ns: 0,
        cells,
        waiting: BTreeSet::new(),
        totals: Totals::default(),
        looks: Looks::default(),
        has_looked: false,
        has_filled: false,
        is_graded: false,
        ended: Vec::new(),
    };
    for further in &mut further {
        sitting.measure(limits.adds_sizes, world)?;
        *further = sitting.further(world)?;
        // What was looked at in vain is not looked at again.
        if further.is_empty() && sitting.may_add() {
            break;
        }
        sitting.seats.extend(further.iter_mut().map(Seat::Waits));
    }
    sitting.measure(false, world)?;
    *numbers = sitting.numbers;
    numbers.before += sitting.seats.len() as u64;
    sitting.end(world)
}

/// A cell of the suite.
enum Seat<'c> {
    /// It has had no turn.
    Waits(&'c mut Cell),
    /// It is measured.
    Sits(Box<Measuring<'c>>),
    /// It has ended.
    Done,
}

impl Seat<'_> {
    /// Whether it has rows to measure and has had no turn.
    fn waits(&self) -> bool {
        matches!(self, Seat::Waits(cell) if cell.measured().next().is_some())
    }

    /// The cell, unless it has ended.
    fn cell(&self) -> Option<&Cell> {
        match self {
            Seat::Waits(cell) => Some(cell),
            Seat::Sits(cell) => Some(cell.cell),
            Seat::Done => None,
        }
    }

    /// Leaves out the rows that `drop` gives a reason for.
    fn leave_out(
        &mut self,
        drop: &dyn Fn(&RowRecord) -> Option<Missing>,
        world: &mut World<'_, '_>,
    ) -> io::Result<()> {
        match self {
            Seat::Done => (),
            Seat::Sits(cell) => {
                cell.leave_out(drop, world)?;
                if cell.open() == 0 {
                    cell.finish(Stop::MaxTime, world)?;
                    *self = Seat::Done;
                }
            }
            Seat::Waits(cell) => {
                for row in cell.rows.iter_mut().filter(|row| row.state.takes_part()) {
                    if let Some(why) = drop(&row.record) {
                        row.state = RowState::Skipped(why);
                    }
                }
            }
        }
        Ok(())
    }

    /// What one process of each of its open rows takes, by [`weight`].
    fn weight(&self, limits: &Limits) -> f64 {
        match self {
            Seat::Waits(cell) => cell.measured().map(|row| weight(&row.record, limits)).sum(),
            Seat::Sits(cell) => cell.open_records().map(|row| weight(row, limits)).sum(),
            Seat::Done => 0.0,
        }
    }

    /// What the cell needs yet, where one of its rows costs `untouched_ns` if it has had no turn.
    fn need(&self, untouched_ns: &dyn Fn(&Cell) -> f64) -> Option<Need<'_>> {
        match self {
            Seat::Waits(cell) => Some(Need::untouched(cell, untouched_ns(cell))),
            Seat::Sits(cell) => Some(Need::after(
                cell.turns(),
                cell.cell,
                cell.open_records().map(|row| row.row).collect(),
                cell.row_ns(),
            )),
            Seat::Done => None,
        }
    }
}

struct Sitting<'c> {
    limits: &'c Limits,
    /// What goes first where the budget is too short.
    leave_out: &'c [LeaveOut],
    /// Rows that stay then.
    reference: &'c [String],
    numbers: Numbers,
    started_ns: u64,
    seats: Vec<Seat<'c>>,
    forecast: Forecast,
    /// The cell whose processes are up.
    present: Option<usize>,
    /// The cells that are still to come in a pass, the last one first: sizes of one table, whose
    /// rows have the same processes.
    passing: Vec<usize>,
    /// What the processes of the present pass took to come up.
    up_ns: u64,
    /// How many of its cells have rows to measure.
    cells: u64,
    /// Series of which a size surely waits, where the suite is measured for growth.
    waiting: BTreeSet<SeriesKey>,
    /// What iterations cost, where the suite is measured for growth.
    totals: Totals,
    /// When growth is looked at.
    looks: Looks,
    /// Whether growth has been looked at.
    has_looked: bool,
    /// Whether sizes were added where too few were answered.
    has_filled: bool,
    /// Whether the growth of every series is certain, which ends the suite.
    is_graded: bool,
    /// The cells that have ended, where growth is measured.
    ended: Vec<Measuring<'c>>,
}

impl<'c> Sitting<'c> {
    /// Gives cells turns until they have ended, the time is up, or growth is certain; where
    /// `until_looked`, until growth was looked at.
    fn measure(&mut self, until_looked: bool, world: &mut World<'_, '_>) -> io::Result<()> {
        // What fresh processes must work before they are timed is known before the first of them.
        self.fit(world)?;
        let is_over = |sitting: &Self| sitting.is_graded || (until_looked && sitting.may_add());
        while !world.listener.interrupted() && !is_over(self) {
            let Some(index) = self.next(world) else { break };
            self.turn(index, world)?;
        }
        Ok(())
    }

    /// Whether sizes may be added: growth was looked at, or nothing is left to measure; and once
    /// all sizes were asked for, where too few of them were answered for a grade.
    fn may_add(&self) -> bool {
        let is_done = self.seats.iter().all(|seat| matches!(seat, Seat::Done));
        let lacks = !self.has_filled && self.forecast.lacks_sizes() && !self.seats.iter().any(Seat::waits);
        self.has_looked || is_done || lacks
    }

    /// Plans further sizes, as far as time is left, once all have had the processes that a grade
    /// needs: of each series whose growth more processes would not show.
    fn further(&mut self, world: &mut World<'_, '_>) -> io::Result<Vec<Cell>> {
        let Some(ends_ns) = self.ends_ns().filter(|_| self.limits.adds_sizes) else {
            return Ok(Vec::new());
        };
        let left_ns = ends_ns.saturating_sub(world.clock.now_ns());
        if !self.may_add() || left_ns == 0 || world.listener.interrupted() {
            return Ok(Vec::new());
        }
        let may_be = self.limits.counts_growth.then(|| self.totals.may_be_collector(&mut world.rng));
        let may_be = may_be.unwrap_or_default();
        let sits = self.seats.iter().filter_map(|seat| match seat {
            Seat::Sits(cell) => Some(&**cell),
            Seat::Waits(_) | Seat::Done => None,
        });
        let measured: Vec<&Measuring<'_>> = self.ended.iter().chain(sits).collect();
        let counted = measured.iter().flat_map(|cell| cell.collected(&may_be));
        let counted: BTreeSet<&SeriesKey> = counted.map(|(row, _)| &row.record.key.series).collect();
        let mut growths = self.totals.growths(&mut world.rng);
        // Bytes tell whether that lasts, in the time that is kept for them.
        growths.retain(|(key, growth)| !(growth.grade.is_superlinear() && counted.contains(key)));
        let left = Left {
            ns: left_ns / growths.len().max(1) as u64,
            up_ns: self.up_ns,
            sample_ns: self.limits.sample_ns,
            timeout_ns: self.limits.timeout_ns,
        };
        let cells: Vec<&Cell> = measured.iter().map(|cell| cell.cell).collect();
        let of = larger::of(&growths, &cells, &self.forecast, left);
        let further = larger::cells(&cells, &of, &mut self.numbers.rows);
        for row in further.iter().flat_map(|cell| &cell.rows) {
            world.journal.append(&Record::Row(row.record.clone()))?;
        }
        if !further.is_empty() {
            self.numbers.of += further.len() as u64;
            (self.is_graded, self.has_looked) = (false, false);
        }
        self.has_filled = true;
        Ok(further)
    }

    /// When the budget is spent, where there is one. Where all series wait nothing is counted, and
    /// what is kept for that is for times too.
    fn ends_ns(&self) -> Option<u64> {
        let turns_ns = self.limits.turns()?;
        let waits =
            !self.totals.is_empty() && self.totals.series().all(|series| self.waiting.contains(series));
        let budget_ns = if waits { self.limits.budget_ns? } else { turns_ns };
        Some(self.started_ns.saturating_add(budget_ns))
    }

    /// The cell that has the next turn, if any has.
    fn next(&mut self, world: &mut World<'_, '_>) -> Option<usize> {
        let Some(ends_ns) = self.ends_ns() else {
            // One cell after another: the first that has not ended.
            return self.seats.iter().position(|seat| !matches!(seat, Seat::Done));
        };
        let standing = |seat: &Seat<'_>| match seat {
            Seat::Done => Standing { done: true, turns: 1, turn_ns: 0, half_width: 0.0 },
            Seat::Waits(_) => Standing { done: false, turns: 0, turn_ns: 0, half_width: 1.0 },
            Seat::Sits(cell) => Standing {
                done: false,
                turns: cell.turns(),
                turn_ns: cell.turn_ns,
                half_width: cell.mean_half_width(),
            },
        };
        let cells: Vec<Standing> = self.seats.iter().map(standing).collect();
        let left_ns = ends_ns.saturating_sub(world.clock.now_ns());
        // For growth, sizes are measured in turn to the end: a machine that changes draws no curve.
        let in_turn = if self.limits.until_graded { u64::MAX } else { turns::FEWEST };
        if !self.limits.carries() {
            return turns::next(&cells, left_ns, in_turn);
        }
        loop {
            let next = self.passing.pop();
            match next.filter(|&next| cells[next].fits(left_ns)) {
                Some(next) => return Some(next),
                None if !self.passing.is_empty() => (),
                None => self.begin_pass(turns::next(&cells, left_ns, in_turn)?, &cells, world),
            }
        }
    }

    /// Ends all processes and begins a pass through the sizes of the table of `cell`, from the
    /// smallest to the largest. Smaller sizes foretell larger ones, and what they leave behind in a
    /// process is little beside what comes next: a collector meets the garbage of a larger size in
    /// the samples of the next.
    fn begin_pass(&mut self, cell: usize, cells: &[Standing], world: &mut World<'_, '_>) {
        if let Some(Seat::Sits(before)) = self.present.take().map(|before| &mut self.seats[before]) {
            before.park();
        }
        world.carried.end();
        self.up_ns = 0;
        let table = |index: usize| self.seats[index].cell().map(|cell| &cell.table);
        let is_first = |index: usize| cells[index].turns == 0;
        let of = |index: usize| {
            let same = table(index) == table(cell) && is_first(index) == is_first(cell);
            let size = self.seats[index].cell().map(|cell| cell.size)?;
            (same && !cells[index].done).then_some((size, index))
        };
        let mut passing: Vec<(u64, usize)> = (0..cells.len()).filter_map(of).collect();
        passing.sort_unstable();
        self.passing = passing.into_iter().rev().map(|(_, index)| index).collect();
    }

    /// Gives a cell its next turn, or its first one.
    fn turn(&mut self, index: usize, world: &mut World<'_, '_>) -> io::Result<()> {
        if self.present != Some(index) {
            if let Some(Seat::Sits(before)) = self.present.map(|before| &mut self.seats[before]) {
                match self.limits.carries() {
                    true => before.leave(&mut world.carried),
                    false => before.park(),
                }
            }
            self.present = Some(index);
        }
        let first = matches!(self.seats[index], Seat::Waits(_));
        let counts = !world.launcher.counts().is_empty();
        let deadline = self.deadline(index, world.clock.now_ns(), counts);
        let mut cell = match std::mem::replace(&mut self.seats[index], Seat::Done) {
            Seat::Done => return Ok(()),
            Seat::Sits(mut cell) => {
                cell.deadline.time_ns = deadline.time_ns;
                cell
            }
            Seat::Waits(cell) => {
                self.forecast.skip_hopeless(cell, self.limits.timeout_ns);
                self.forecast.skip_too_large(cell, world.clock.memory_free());
                Box::new(Measuring::new(cell, self.limits, self.reference, deadline, world))
            }
        };
        announce(cell.cell, self.numbers.before + index as u64 + 1, self.numbers.of, world);
        if first {
            skip_rows(cell.cell, None, world)?;
        }
        let known = if first { self.forecast.known(cell.cell) } else { Vec::new() };
        let stop = cell.turn(&known, world)?;
        self.up_ns = self.up_ns.max(cell.up_ns);
        if first {
            self.forecast.learn(cell.cell, &cell.costs());
            self.forecast.learn_waits(cell.cell, &cell.waits());
            self.forecast.learn_waited(cell.cell, &cell.waited());
            self.forecast.learn_held(cell.cell, &cell.held());
        }
        if let Some(short) = cell.short().filter(|_| stop.is_none()) {
            let Cell { table, size, .. } = cell.cell;
            world.listener.event(&Event::TooShort { table, size: *size, short });
        }
        if self.limits.until_graded {
            self.waiting.extend(cell.waiting().cloned());
            cell.totals().for_each(|(series, totals)| self.totals.learn(series, cell.cell.size, totals));
        }
        match stop.or_else(|| self.spent(&cell)) {
            Some(stop) => {
                cell.finish(stop, world)?;
                world.listener.event(&Event::CellEnded);
                self.ended.extend(self.limits.until_graded.then_some(*cell));
            }
            None => self.seats[index] = Seat::Sits(cell),
        }
        for seat in self.seats.iter_mut().filter(|_| !self.waiting.is_empty()) {
            if let Seat::Sits(cell) = seat {
                cell.wait_alike(&self.waiting);
            }
        }
        self.look(world);
        self.fit(world)
    }

    /// Looks whether the growth of all series that are still measured is certain, where that ends
    /// the suite.
    fn look(&mut self, world: &mut World<'_, '_>) {
        if !self.limits.until_graded || self.seats.iter().any(Seat::waits) {
            return;
        }
        let sitting = || {
            self.seats.iter().filter_map(|seat| match seat {
                Seat::Sits(cell) => Some(cell),
                Seat::Waits(_) | Seat::Done => None,
            })
        };
        let turns: Vec<u64> = sitting().map(|cell| cell.turns()).collect();
        if turns.is_empty() || !self.looks.is_due(&turns) {
            return;
        }
        let open = sitting().flat_map(|cell| cell.open_records());
        let series: BTreeSet<&SeriesKey> =
            open.filter(|row| row.role != Role::Control).map(|row| &row.key.series).collect();
        self.has_looked = true;
        self.is_graded = self.totals.are_certain(&series, &mut world.rng);
    }

    /// When the cell ends. Its time is what it has had and its part of what is left of the budget,
    /// among the cells that are still measured.
    fn deadline(&self, index: usize, now_ns: u64, counts: bool) -> Deadline {
        let weight_of = |seat: &Seat<'_>| seat.weight(self.limits);
        let own = weight_of(&self.seats[index]);
        let left: f64 = self.seats.iter().map(weight_of).sum();
        let spent_ns = match &self.seats[index] {
            Seat::Sits(cell) => cell.spent_ns,
            Seat::Waits(_) | Seat::Done => 0,
        };
        let time_ns = self.limits.cell_time_ns(now_ns - self.started_ns, spent_ns, own / left);
        match self.limits.turns() {
            None if self.limits.is_bound => {
                Deadline::bound(now_ns, time_ns.min(self.bound_ns(index, now_ns)), counts)
            }
            None => Deadline::alone(now_ns, time_ns),
            Some(budget_ns) => Deadline {
                time_ns,
                stop_ns: self.started_ns.saturating_add(budget_ns),
                broken_off_ns: self.started_ns.saturating_add((budget_ns as f64 * OVERRUN) as u64),
                given_up_ns: self.started_ns.saturating_add(budget_ns.saturating_mul(GIVEN_UP)),
                over_ns: u64::MAX,
                counted_ns: u64::MAX,
            },
        }
    }

    /// What is left for a cell of the time that all may take together, if those behind it have all
    /// of theirs: the requests that others ended with do not add up.
    fn bound_ns(&self, index: usize, now_ns: u64) -> u64 {
        let behind = self.seats.iter().enumerate().filter(|(other, seat)| *other != index && seat.waits());
        let of = |cells: u64| self.limits.max_time_ns.saturating_mul(cells);
        let ends_ns = self.started_ns.saturating_add(of(self.cells));
        ends_ns.saturating_sub(now_ns).saturating_sub(of(behind.count() as u64))
    }

    /// Whether a cell with turns has had its own time, and the processes that its intervals need.
    fn spent(&self, cell: &Measuring<'_>) -> Option<Stop> {
        let spent = cell.spent_ns.saturating_add(cell.turn_ns / 2) >= self.limits.max_time_ns;
        let enough = cell.turns() >= turns::FEWEST;
        (self.limits.turns().is_some() && spent && enough).then_some(Stop::MaxTime)
    }

    /// Leaves out what does not fit into the rest of the budget, by what turns cost so far.
    fn fit(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        if self.limits.until_graded {
            return self.fit_sizes(world);
        }
        let Some(ends_ns) = self.ends_ns().filter(|_| !self.leave_out.is_empty()) else { return Ok(()) };
        let per_weight = |seat: &Seat<'_>| match seat {
            Seat::Sits(cell) => Some(cell.row_ns() * cell.open() as f64 / seat.weight(self.limits))
                .filter(|ns| ns.is_finite()),
            Seat::Waits(_) | Seat::Done => None,
        };
        // What has had no turn costs as much as the dearest that has, by weight, and as much as its
        // processes must work before they are timed.
        let dearest = self.seats.iter().filter_map(per_weight).fold(0.0, f64::max);
        let untouched_ns = |cell: &Cell| {
            let mean = |of: &dyn Fn(&RowRecord) -> f64| {
                cell.measured().map(|row| of(&row.record)).sum::<f64>()
                    / cell.measured().count().max(1) as f64
            };
            (dearest * mean(&|row| weight(row, self.limits))).max(mean(&|row| settle_ns(row) as f64))
        };
        let budget = Budget {
            order: self.leave_out,
            reference: self.reference,
            left_ns: ends_ns.saturating_sub(world.clock.now_ns()),
            budget_ns: ends_ns - self.started_ns,
        };
        let needs: Vec<Need<'_>> = self.seats.iter().filter_map(|seat| seat.need(&untouched_ns)).collect();
        let left_out = fit::left_out(&needs, &budget);
        for seat in &mut self.seats {
            seat.leave_out(&|row| left_out.get(&row.row).cloned(), world)?;
        }
        Ok(())
    }

    /// Leaves out the sizes for which growth would have too few processes everywhere.
    fn fit_sizes(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let Some(ends_ns) = self.ends_ns() else { return Ok(()) };
        let now_ns = world.clock.now_ns();
        let mut before_ns: u64 = 0;
        let mut open: Vec<(usize, Planned<'_>)> = Vec::new();
        for (index, seat) in self.seats.iter().enumerate() {
            let (cell, turns, turn_ns) = match seat {
                Seat::Sits(cell) => (cell.cell, cell.turns(), cell.turn_ns),
                Seat::Waits(cell) if seat.waits() => {
                    match self.forecast.least_ns(cell, self.limits.timeout_ns) {
                        // It will not be measured.
                        None => continue,
                        Some(least_ns) => (&**cell, 0, before_ns.max(least_ns)),
                    }
                }
                Seat::Waits(_) | Seat::Done => continue,
            };
            before_ns = turn_ns;
            open.push((index, Planned { table: &cell.table, size: cell.size, turns, turn_ns }));
        }
        let planned: Vec<Planned<'_>> = open.iter().map(|(_, planned)| planned.clone()).collect();
        let ups_ns = self.up_ns.saturating_mul(graded::passes(&planned));
        let gone = graded::too_dear(&planned, ends_ns.saturating_sub(now_ns).saturating_sub(ups_ns));
        let elapsed_ns = (now_ns - self.started_ns).saturating_add(ups_ns);
        let gone: Vec<(usize, Missing)> =
            gone.iter().map(|&at| (open[at].0, graded::left_out(&planned, &gone, at, elapsed_ns))).collect();
        for (index, why) in gone {
            self.seats[index].leave_out(&|_| Some(why.clone()), world)?;
        }
        Ok(())
    }

    /// Ends the suite: the time is up, growth is certain, or the user has interrupted.
    fn end(mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        self.close(world)?;
        // Smaller sizes are counted first, whichever ended first.
        self.ended.sort_by_key(|cell| cell.cell.size);
        self.count_growth(world)
    }

    /// Ends what is still open.
    fn close(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        world.carried.end();
        let stop = match (world.listener.interrupted(), self.is_graded) {
            (true, _) => Stop::Interrupted,
            (false, true) => Stop::Graded,
            (false, false) => Stop::MaxTime,
        };
        for (number, seat) in (self.numbers.before + 1..).zip(&mut self.seats) {
            match std::mem::replace(seat, Seat::Done) {
                Seat::Done => continue,
                Seat::Sits(mut cell) => {
                    cell.finish(stop, world)?;
                    self.ended.push(*cell);
                }
                Seat::Waits(cell) => {
                    announce(cell, number, self.numbers.of, world);
                    let why = match stop {
                        Stop::Interrupted => {
                            Missing::new("the run was interrupted before this row", "run it again")
                        }
                        _ => Missing::new(
                            "no time was left for its first round",
                            "name fewer with --runtime, or give cells their time with --max-time",
                        ),
                    };
                    skip_rows(cell, Some(why), world)?;
                    continue;
                }
            }
            world.listener.event(&Event::CellEnded);
        }
        Ok(())
    }

    /// Counts what tells a collector's growth from a cliff, of the series that it may explain, as
    /// long as the budget lasts.
    fn count_growth(&self, world: &mut World<'_, '_>) -> io::Result<()> {
        let Some(budget_ns) = self.limits.budget_ns.filter(|_| self.limits.counts_growth) else {
            return Ok(());
        };
        let of = self.totals.may_be_collector(&mut world.rng);
        let rows = self.ended.iter().flat_map(|cell| cell.collected(&of));
        until::count_growth(rows, self.started_ns.saturating_add(budget_ns), world)
    }
}

/// Roughly the nanoseconds that one process of a row takes: what it works before it is timed, and
/// [`Limits::weight`].
pub(crate) fn weight(row: &RowRecord, limits: &Limits) -> f64 {
    limits.weight(row.key.size) + settle_ns(row) as f64
}
