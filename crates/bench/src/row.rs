//! One row while it is measured: its process, its last request, how it ended.

use std::io;

use taskscale_analysis::told::Told;
use taskscale_model::{
    answer::Rule,
    bytes,
    key::RowKey,
    load::Mode,
    missing::{Missing, Reading},
    parked::Resident,
    protocol::{Description, RunRequest},
    run_file::{Kind, Record, Role, RowEnd, RowRecord, SampleRecord, Status, Stop, Time},
};
use taskscale_stats::rounds::Timed;

use crate::{
    agree::Agreed,
    ask::{Ask, request},
    carried::{Carried, Process},
    counters::Counters,
    fault::Fault,
    journal::Journal,
    judge::Judge,
    limits::{self, Limits},
    link::{Clock, Event, Launcher, Link, Listener, Observed},
    schedule::Round,
    waiting::Waiting,
    warmup::settle_ns,
};

/// An iteration that lasts this many of the wanted samples is dear: its row is not measured for
/// other ends than its figure more often than need be. A million tasks of asyncio take 3 s, and 10
/// sizes of them in 6 processes as long as the suite may take.
pub(crate) const DEAR: f64 = 5.0;

/// How long a pilot takes from which on its row is judged by the pilots too.
const LONG_PILOT_NS: u64 = 1_000_000_000;

/// The shortest pause between two samples after which a row is woken. The pipe alone takes some
/// tens of microseconds.
const PAUSE_NS: u64 = 2_000_000;

/// The least length of a sample whose requests start at a fixed rate. The last response comes some
/// milliseconds after the last start; of 300 ms that is a percent or two of the rate that is told.
const OPEN_NS: u64 = 300_000_000;

/// Samples of other lengths of a row whose times are suspicious. One may be disturbed.
const CONTRASTS: usize = 3;

/// How many samples of a row may be stopped while they are under way. The row is given up then:
/// what stops it does so by design.
const MOST_STOPPED: u64 = 20;

/// The longest waking, whatever the probe says.
const MOST_WAKE_MS: u64 = 200;

/// The world as a row sees it.
pub(crate) struct World<'a, 'j> {
    pub launcher: &'a mut dyn Launcher,
    pub clock: &'a mut dyn Clock,
    pub listener: &'a mut dyn Listener,
    pub journal: &'a mut Journal<'j>,
    /// CPUs that a process may use. No probe can use more.
    pub cpus: u64,
    /// Draws layouts of fresh processes and seeds of pilot samples.
    pub rng: fastrand::Rng,
    /// How long one answer may take.
    pub timeout_ns: u64,
    /// How long a cell may take, where the user says so.
    pub hurry_ns: Option<u64>,
    /// When the cell is over by the user's own word, whatever has been measured by then.
    pub over_ns: u64,
    /// The most rounds of a cell, for listeners.
    pub rounds: u64,
    /// The answers that others are held to where no rule computes them.
    pub agreed: Agreed,
    /// Processes on their way from one size to the next.
    pub carried: Carried,
}

impl World<'_, '_> {
    /// Whether nothing more is asked: the user has interrupted, or the cell's time is over.
    pub fn is_over(&self) -> bool {
        self.listener.interrupted() || self.clock.now_ns() >= self.over_ns
    }

    /// Why nothing more is asked, where that is so.
    pub fn stop(&self) -> Option<Stop> {
        match self.listener.interrupted() {
            true => Some(Stop::Interrupted),
            false => self.is_over().then_some(Stop::MaxTime),
        }
    }
}

pub(crate) struct Row<'p> {
    pub record: &'p RowRecord,
    pub rule: Rule,
    /// The language of its runtime, as its process says.
    pub language: String,
    link: Option<Box<dyn Link>>,
    /// What its process said of itself.
    description: Option<Description>,
    /// Whether its process has worked at smaller sizes.
    is_carried: bool,
    judge: Option<Judge>,
    /// What its processes told of their times, beside what was seen.
    told: Option<Told>,
    /// The same of its pilot samples alone: a clock that stands still makes them longer and longer.
    piloted: Option<Told>,
    /// How long the longest of them took.
    piloted_ns: u64,
    /// Whether samples were taken that tell what its requests take beside their timed part.
    is_contrasted: bool,
    /// How many of its samples were stopped.
    stopped: u64,
    /// Resolution of the probe's wall clock.
    pub resolution_ns: u64,
    process: u64,
    asked: u64,
    /// Iterations of its timed samples, before jitter.
    pub iterations: u64,
    /// Whether the probe tells how often a collector runs.
    pub tells_collector: bool,
    /// Whether the probe tells the share of creation.
    pub tells_phases: bool,
    /// How long it must work before a timed sample that follows a pause.
    wake_ns: Option<u64>,
    /// When it last answered, in monotonic nanoseconds.
    answered_ns: u64,
    /// Round, process and CPU ns per task of each timed sample.
    pub timed: Vec<Timed>,
    /// Wall ns of one iteration of each of them.
    pub walls: Vec<f64>,
    /// CPU ns per task of the pilot and warm-up samples of the present process, in order.
    pub costs: Vec<f64>,
    /// CPU ns of those samples together.
    pub worked_ns: u64,
    /// How many of them were taken before the process had worked as long as its probe asks for.
    pub early: usize,
    /// Wall ns of the instrumented run that checked its answer.
    pub verified_wall_ns: Option<f64>,
    /// Wall ns of one iteration, by the last sample.
    pub iteration_wall_ns: Option<f64>,
    /// What its process held, by the last sample, where it was asked.
    pub resident: Option<Resident>,
    /// Whether its series has answered at a smaller size, which tells how long this one takes.
    pub is_foreseen: bool,
    /// What the request took on which it failed, in nanoseconds.
    pub lost_ns: u64,
    /// How long it was waited for in vain, in nanoseconds.
    pub waited_ns: Option<u64>,
    /// How many of its timed samples one thread did, and of how many that is known.
    alone: (u64, u64),
    /// Whether several threads did the work of its last pilot.
    has_threads: bool,
    /// The CPU that its present process is kept on.
    cpu: Option<u32>,
    /// Whether its iterations wait, where that is looked for.
    pub waiting: Waiting,
    status: Option<Status>,
}

impl<'p> Row<'p> {
    pub fn new(record: &'p RowRecord, rule: Rule) -> Self {
        Row {
            record,
            rule,
            language: String::new(),
            link: None,
            description: None,
            is_carried: false,
            judge: None,
            told: None,
            piloted: None,
            piloted_ns: 0,
            is_contrasted: false,
            stopped: 0,
            resolution_ns: 1,
            process: 0,
            asked: 0,
            iterations: 1,
            tells_collector: false,
            // A sweep uses only the costs, a server creates nothing, and a process whose memory is
            // read answers once. Bytes are read, and nothing is created. A second is watched once.
            tells_phases: record.sweep.is_none()
                && !record.key.is_resident()
                && !record.key.is_watched()
                && record.key.workload != bytes::WORKLOAD
                && Mode::of(&record.key.workload, &record.key.params).is_none(),
            wake_ns: None,
            answered_ns: 0,
            timed: Vec::new(),
            walls: Vec::new(),
            costs: Vec::new(),
            worked_ns: 0,
            early: 0,
            verified_wall_ns: None,
            iteration_wall_ns: None,
            resident: None,
            is_foreseen: false,
            lost_ns: 0,
            waited_ns: None,
            alone: (0, 0),
            has_threads: false,
            cpu: None,
            waiting: Waiting::default(),
            status: None,
        }
    }

    /// How the row ended; `None` while it is measured.
    pub fn status(&self) -> Option<&Status> {
        self.status.as_ref()
    }

    /// Whether it has a process.
    pub fn is_alive(&self) -> bool {
        self.link.is_some()
    }

    /// Whether it is still to be measured, with a process or without.
    pub fn is_open(&self) -> bool {
        self.status.is_none()
    }

    /// Whether it is still to be measured, or was measured enough before the others of its cell.
    pub fn has_figures(&self) -> bool {
        matches!(self.status, None | Some(Status::Ok { stop: Stop::Precision }))
    }

    /// How long one of its samples should last.
    pub fn sample_ns(&self, limits: &Limits) -> u64 {
        match Mode::of(&self.record.key.workload, &self.record.key.params) {
            Some(Mode::Open { .. }) => limits.sample_ns.max(OPEN_NS),
            _ if self.record.jit || self.has_threads => limits.sample_ns.max(limits.uneven_sample_ns),
            _ => limits.sample_ns,
        }
    }

    /// Whether the memory of its processes is read: each of them is fresh and answers once.
    pub fn is_resident(&self) -> bool {
        self.record.key.is_resident()
    }

    /// Whether its first sample is a timed one. A process whose memory is read answers once. An
    /// iteration that is watched has its length by design, and its cost does not level off.
    pub fn is_unprepared(&self) -> bool {
        self.is_resident() || self.record.key.is_watched()
    }

    /// Whether an iteration lasts [`DEAR`] samples, by the last one or by the instrumented run.
    pub fn is_dear(&self, sample_ns: u64) -> bool {
        let iteration_ns = self.iteration_wall_ns.or(self.verified_wall_ns);
        iteration_ns.is_some_and(|ns| ns >= DEAR * sample_ns as f64)
    }

    /// Ends its process until the next start.
    pub fn park(&mut self) {
        if let Some(mut link) = self.link.take() {
            link.end();
        }
    }

    /// Whether its processes go on to other sizes: what one has compiled, and threads that it has
    /// started because others waited, would go on too.
    pub fn is_passed_on(&self) -> bool {
        !self.record.jit && !self.waiting.is()
    }

    /// Leaves its process to the same row of another size, or ends it. The first process of each
    /// size is fresh, so that what waits in fresh ones is seen.
    pub fn leave(&mut self, carried: &mut Carried) {
        if !self.is_passed_on() || self.process == 0 {
            return self.park();
        }
        if let (Some(link), Some(description)) = (self.link.take(), self.description.take()) {
            carried.leave(self.record, Process { link, description });
        }
    }

    /// Tells its process to end and does not wait for it.
    pub fn dismiss(&mut self) {
        if let Some(link) = self.link.as_mut() {
            link.dismiss();
        }
    }

    /// Starts a fresh process, which replaces an earlier one, or takes over that of another size.
    /// [`Row::shake_hands`] comes next.
    pub fn start(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        self.park();
        self.cpu = None;
        if self.asked > 0 {
            self.process += 1;
            self.costs.clear();
            (self.worked_ns, self.early) = (0, 0);
        }
        self.description = None;
        let mut carried = world.carried.take(self.record);
        if let Some(mut process) = carried.take_if(|_| !self.is_passed_on()) {
            process.link.end();
        }
        self.is_carried = carried.is_some();
        if let Some(Process { link, description }) = carried {
            (self.link, self.description) = (Some(link), Some(description));
            return Ok(());
        }
        let (runtime, layout) = (&self.record.key.runtime, world.rng.u64(..));
        let launched = match Mode::of(&self.record.key.workload, &self.record.key.params) {
            Some(_) => world.launcher.launch_server(runtime, layout),
            None if bytes::is_http(&self.record.key.workload, &self.record.key.params) => {
                world.launcher.launch_client(runtime, layout)
            }
            None => world.launcher.launch(runtime, layout),
        };
        match launched {
            Ok(link) => {
                self.link = Some(link);
                Ok(())
            }
            Err(fault) => self.fail(&fault, world),
        }
    }

    /// Waits until its process has come up.
    pub fn shake_hands(&mut self, world: &mut World<'_, '_>) -> io::Result<()> {
        let Some(link) = self.link.as_mut() else { return Ok(()) };
        let said = match self.description.take() {
            Some(description) => Ok(description),
            None => link.shake_hands(world.timeout_ns),
        };
        match said {
            Ok(description) => {
                self.language.clone_from(&description.runtime.language);
                self.resolution_ns = description.clock.wall_resolution_ns;
                self.tells_collector = Counters::tells_collector(&description);
                self.wake_ns = description.wake_ms.map(|ms| ms.min(MOST_WAKE_MS) * 1_000_000);
                self.told.get_or_insert_with(|| Told::new(description.clock));
                self.piloted.get_or_insert_with(|| Told::new(description.clock));
                let judge = Judge::new(description.clock, world.cpus).compiled(description.jit);
                let is_accounted = self.record.role != Role::Calibration;
                self.judge = Some(if is_accounted { judge.accounted() } else { judge });
                self.description = Some(description);
                Ok(())
            }
            Err(fault) => self.fail(&fault, world),
        }
    }

    /// The number that rows divided by one another share: that of their baseline.
    pub fn comparison(&self) -> u64 {
        self.record.baseline.unwrap_or(self.record.row)
    }

    /// Whether one thread does the work of its samples: three in four at least, since a collector
    /// beside shows in a few.
    pub fn works_alone(&self) -> bool {
        let (alone, of) = self.alone;
        of > 0 && 4 * alone >= 3 * of
    }

    /// Keeps its process on one CPU, the same for the same `place`.
    pub fn keep_on(&mut self, place: u64) {
        self.cpu = self.link.as_mut().and_then(|link| link.keep_on(place));
    }

    /// Takes one sample and records it. The result is `None` where the row is dead or dies of it.
    pub fn ask(&mut self, ask: Ask, world: &mut World<'_, '_>) -> io::Result<Option<SampleRecord>> {
        let timeout_ns = self.patience_ns(&ask, world);
        let (Some(link), Some(judge)) = (self.link.as_mut(), self.judge.as_mut()) else { return Ok(None) };
        self.asked += 1;
        let request = request(self.record, self.asked, ask);
        let asked_ns = world.clock.now_ns();
        let judged = link.run(&request, timeout_ns).and_then(|observed| {
            judge.judge(self.rule, &request, &observed)?;
            if self.rule == Rule::Agree {
                world.agreed.hold(self.record, &request, observed.sample.answer)?;
            }
            Ok(observed)
        });
        match judged {
            Err(fault) => {
                self.lost_ns = world.clock.now_ns() - asked_ns;
                self.waited_ns = matches!(fault, Fault::TimedOut { .. }).then_some(timeout_ns);
                if let (Some(link), Fault::Refused { .. } | Fault::Exited { .. }) =
                    (self.link.as_mut(), &fault)
                {
                    let text = link.said();
                    if !text.is_empty() {
                        world.listener.event(&Event::Said { row: self.record, text: &text });
                    }
                }
                self.fail(&fault, world)?;
                Ok(None)
            }
            Ok(observed) => {
                let sample = self.sample_record(&request, ask, observed, world.journal.next_order());
                world.journal.append(&Record::Sample(sample.clone()))?;
                self.take_note(&sample);
                self.answered_ns = world.clock.now_ns();
                if let Some(fault) = self.disbelief() {
                    self.fail(&fault, world)?;
                    return Ok(None);
                }
                world.listener.event(&Event::Sampled {
                    row: self.record,
                    kind: sample.kind,
                    round: ask.round,
                    rounds: world.rounds,
                    cpu_per_task: per_task(&sample),
                });
                Ok(Some(sample))
            }
        }
    }

    /// How long its answer is waited for.
    fn patience_ns(&self, ask: &Ask, world: &World<'_, '_>) -> u64 {
        let known_ns = self.iteration_wall_ns.or(self.verified_wall_ns);
        let Some(hurry_ns) = world.hurry_ns else { return world.timeout_ns };
        // The forecast has let a size through that may take as long as an answer may.
        if known_ns.is_none() && self.is_foreseen {
            return world.timeout_ns;
        }
        let known_ns = known_ns.map(|ns| ns * ask.iterations as f64);
        let RowKey { series, size } = &self.record.key;
        let is_served = Mode::of(&series.workload, &series.params).is_some();
        let tasks = if is_served { size.saturating_mul(limits::REQUEST) } else { *size };
        limits::patience_ns(hurry_ns, tasks, known_ns, self.record.jit).min(world.timeout_ns)
    }

    /// Makes the probe work after a pause, for as long as it says that it takes to come back. A row
    /// with a longer iteration comes back within its sample and is left alone.
    pub fn wake(&mut self, round: &Round, world: &mut World<'_, '_>) -> io::Result<()> {
        let paused_ns = world.clock.now_ns().saturating_sub(self.answered_ns);
        let (Some(wake_ns), Some(iteration_ns), false) =
            (self.wake_ns, self.iteration_wall_ns, self.is_resident() || self.waiting.is())
        else {
            return Ok(());
        };
        let iterations = (wake_ns as f64 / iteration_ns.max(1.0)) as u64;
        if paused_ns >= PAUSE_NS && iterations > 0 {
            self.ask(Ask { kind: Kind::Wake, round: round.number, iterations, seed: round.seed }, world)?;
        }
        Ok(())
    }

    /// Why its samples, taken together, are not believed.
    fn disbelief(&self) -> Option<Fault> {
        if self.stopped >= MOST_STOPPED {
            return Some(Fault::Stopped { times: self.stopped });
        }
        // Pilots of three lengths are few witnesses: what is set up in one request may be none in
        // the next. They count where the row would take for ever.
        let is_long = self.piloted_ns >= LONG_PILOT_NS;
        let mut accounts = self.told.iter().chain(self.piloted.as_ref().filter(|_| is_long));
        accounts.find_map(Told::wrong_so_far).map(Fault::ImpossibleTime)
    }

    /// Takes samples of other lengths, once, where its times are suspicious: they tell a wrong
    /// clock from what requests take beside their timed part.
    pub fn contrast(&mut self, round: &Round, world: &mut World<'_, '_>) -> io::Result<()> {
        let wanted = self.told.as_ref().and_then(|told| told.wants_contrast(self.iterations));
        let Some(iterations) = wanted.filter(|_| !self.is_contrasted && !self.is_unprepared()) else {
            return Ok(());
        };
        self.is_contrasted = true;
        for _ in 0..CONTRASTS {
            if world.is_over() {
                return Ok(());
            }
            let ask = Ask { kind: Kind::Contrast, round: round.number, iterations, seed: round.seed };
            if self.ask(ask, world)?.is_none() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn take_note(&mut self, sample: &SampleRecord) {
        if sample.kind == Kind::SetAside {
            self.stopped += 1;
            return;
        }
        // Where memory is read, tasks are made to wait before the timed part, which is to wake
        // them. Where next to nothing happens, a request is as dear as what is timed.
        let is_unprepared = self.is_unprepared();
        self.waiting.take(sample);
        if let Some(told) = self.told.as_mut().filter(|_| !is_unprepared) {
            told.take(sample);
        }
        if let Some(piloted) = self.piloted.as_mut().filter(|_| sample.kind == Kind::Pilot) {
            piloted.take_as_timed(sample);
            self.has_threads = matches!(&sample.threads, Some(Reading::Value(threads)) if threads.ran > 1);
            self.piloted_ns = self.piloted_ns.max(sample.outside_wall_ns);
        }
        self.resident = Resident::of(&sample.extra).filter(|_| self.is_resident()).or(self.resident);
        match sample.kind {
            Kind::Timed => {
                if let Some(Reading::Value(threads)) = &sample.threads {
                    self.alone.0 += u64::from(threads.ran == 1);
                    self.alone.1 += 1;
                }
                self.timed.push(Timed {
                    round: sample.round,
                    process: sample.process,
                    value: per_task(sample),
                });
                self.walls.push(sample.per_iteration(Time::Wall));
            }
            Kind::Pilot | Kind::Warmup => {
                self.costs.push(per_task(sample));
                self.early += usize::from(self.worked_ns < settle_ns(self.record));
                self.worked_ns = self.worked_ns.saturating_add(sample.cpu_ns);
            }
            Kind::Verify => self.verified_wall_ns = Some(sample.wall_ns as f64),
            Kind::Phases if !sample.extra.contains_key("create_cpu_ns") => self.tells_phases = false,
            _ => (),
        }
        if !matches!(sample.kind, Kind::Verify | Kind::Wake | Kind::Contrast) {
            self.iteration_wall_ns = Some(sample.wall_ns as f64 / sample.iterations.max(1) as f64);
        }
    }

    fn sample_record(&self, request: &RunRequest, ask: Ask, observed: Observed, order: u64) -> SampleRecord {
        SampleRecord {
            order,
            row: self.record.row,
            kind: if observed.stopped.is_some() { Kind::SetAside } else { ask.kind },
            round: ask.round,
            process: self.process,
            workload: self.record.key.workload.clone(),
            runtime: self.record.key.runtime.clone(),
            variant: self.record.key.variant.clone(),
            size: self.record.key.size,
            iterations: request.iterations,
            seed: request.seed,
            wall_ns: observed.sample.wall_ns,
            cpu_ns: observed.sample.cpu_ns,
            outside_wall_ns: observed.outside_wall_ns,
            outside_cpu_ns: observed.outside_cpu_ns,
            stopped: observed.stopped,
            threads: Some(observed.threads.into()),
            run_delay_ns: observed.run_delay_ns,
            cpu: self.cpu,
            carried: self.is_carried,
            load: observed.load,
            server_cpu_ns: observed.server_cpu_ns,
            answer: observed.sample.answer,
            extra: observed.sample.extra,
        }
    }

    /// Ends the row with a fault.
    pub fn fail(&mut self, fault: &Fault, world: &mut World<'_, '_>) -> io::Result<()> {
        self.end(Status::Failed(fault.to_missing()), world)
    }

    /// Ends the row once. A later end is ignored.
    pub fn end(&mut self, status: Status, world: &mut World<'_, '_>) -> io::Result<()> {
        self.park();
        if self.status.is_some() {
            return Ok(());
        }
        world.journal.append(&Record::RowEnd(RowEnd { row: self.record.row, status: status.clone() }))?;
        world.listener.event(&Event::RowEnded { row: self.record, status: self.status.insert(status) });
        Ok(())
    }

    /// Ends a measured row: with its figures if it has at least one round, or else as skipped.
    pub fn finish(&mut self, stop: Stop, world: &mut World<'_, '_>) -> io::Result<()> {
        let status = if self.timed.is_empty() {
            let why = match stop {
                Stop::Interrupted => {
                    Missing::new("the run was interrupted before its first round", "run it again")
                }
                _ => Missing::new(
                    "no time was left for its first round",
                    "raise --max-time, or run fewer rows",
                ),
            };
            Status::Skipped(why)
        } else {
            Status::Ok { stop }
        };
        self.end(status, world)
    }
}

/// CPU nanoseconds per task of one sample.
pub(crate) fn per_task(sample: &SampleRecord) -> f64 {
    sample.cpu_ns as f64 / sample.iterations.max(1) as f64 / sample.size.max(1) as f64
}
