//! Shows one line per row of the cell under way on a terminal, and elsewhere a line a minute.

use std::{
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeSet,
    io::IsTerminal,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use taskscale_bench::{
    link::{Event, Listener, Short},
    plan::Takes,
};
use taskscale_model::{
    figure,
    plain::clean,
    run_file::{Kind, Role, RowRecord, Status},
};

use crate::{
    interrupt::Interrupt,
    output::{quote, tell},
    probes::build::Watch,
};

/// Rows that fit below the heading on the smallest usual terminal (24 lines). The others are
/// measured unseen.
const ROWS_SHOWN: usize = 20;

/// The time between two lines where standard error is no terminal.
const MINUTE: Duration = Duration::from_secs(60);

/// How often is looked whether a minute is over.
const LOOK: Duration = Duration::from_secs(1);

/// Shows how many spans of a trace are sorted, on a terminal.
pub fn sorting() -> ProgressBar {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("taskscale: sorting {bar:30} {percent} % {elapsed}") {
        bar.set_style(style);
    }
    bar
}

/// Time between two drawings of a line that nothing else moves.
const TICK: Duration = Duration::from_millis(200);

/// A line with the time that it has been shown.
fn shown(line: &str) -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("taskscale: {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.set_message(clean(line));
    bar
}

/// Time between two lines on a build where standard error is no terminal.
const STILL: Duration = Duration::from_secs(30);

/// Shows what is being built, which of how many, and what its compiler said last: on a terminal in
/// a line with the time that all took so far, elsewhere in a line when one begins and one every
/// [`STILL`].
#[derive(Debug)]
pub struct Building {
    bar: RefCell<Option<ProgressBar>>,
    terminal: bool,
    interrupt: Interrupt,
    /// How many have begun, and how many there are, as far as that is known.
    number: Cell<usize>,
    of: Cell<usize>,
    /// When the first began.
    began: OnceCell<Instant>,
    /// The build under way in words, and when a line told of it.
    line: RefCell<String>,
    told: Cell<Instant>,
}

impl Building {
    /// Shows the builds on standard error.
    pub fn new(interrupt: Interrupt) -> Self {
        Building {
            bar: RefCell::new(None),
            terminal: std::io::stderr().is_terminal(),
            interrupt,
            number: Cell::new(0),
            of: Cell::new(0),
            began: OnceCell::new(),
            line: RefCell::default(),
            told: Cell::new(Instant::now()),
        }
    }

    /// Shows what is waited for before anything is built, with its time; nothing where no terminal
    /// is. It goes with the next build, or with [`Building::looked`].
    pub fn looks(&self, line: &str) {
        self.looked();
        if self.terminal {
            let bar = shown(line);
            bar.tick();
            bar.enable_steady_tick(TICK);
            *self.bar.borrow_mut() = Some(bar);
        }
    }

    /// Takes off the screen what was waited for.
    pub fn looked(&self) {
        if let Some(bar) = self.bar.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }

    /// What is built, and what was said of it last.
    fn doing(&self, last: &str) -> String {
        let line = self.line.borrow();
        if last.is_empty() { line.clone() } else { format!("{line}: {last}") }
    }

    /// The line for a log, where one is due.
    fn due(&self, last: &str) -> Option<String> {
        if self.terminal || self.told.get().elapsed() < STILL {
            return None;
        }
        self.told.set(Instant::now());
        let passed = self.began.get().map(Instant::elapsed).unwrap_or_default();
        Some(format!("taskscale: {}, {}", in_words(passed), self.doing(last)))
    }

    /// Says how many builds there are to come.
    pub fn expect(&self, of: usize) {
        self.of.set(of);
    }
}

impl Watch for Building {
    fn begins(&self, line: &str) {
        let (number, of) = (self.number.get() + 1, self.of.get());
        self.number.set(number);
        let line =
            if of > 1 && number <= of { format!("{line} ({number} of {of})") } else { line.to_owned() };
        let began = self.began.get_or_init(Instant::now);
        if self.terminal {
            self.looked();
            *self.bar.borrow_mut() = Some(shown(&line).with_elapsed(began.elapsed()));
        } else {
            tell(&format!("taskscale: {line}"));
            self.told.set(Instant::now());
        }
        *self.line.borrow_mut() = line;
    }

    fn tells(&self, line: &str) {
        let say = || tell(&format!("taskscale: {line}"));
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }

    fn ticks(&self, last: &str) {
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_message(clean(&self.doing(last)));
            bar.tick();
        } else if let Some(line) = self.due(last) {
            tell(&line);
        }
    }

    fn ends(&self, words: &str) {
        self.looked();
        for line in words.lines() {
            quote(&format!("  {line}"));
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.came()
    }
}

/// Shows what a run is doing.
#[derive(Debug)]
pub struct Progress {
    bars: MultiProgress,
    heading: Option<ProgressBar>,
    rows: Vec<(u64, ProgressBar)>,
    /// Runtimes whose code has said why it failed.
    said: BTreeSet<String>,
    interrupt: Interrupt,
    stage: Arc<Mutex<Stage>>,
}

/// How far a run is.
#[derive(Debug)]
struct Stage {
    /// The cell under way in words.
    cell: String,
    /// The row that is counted, in words: counts take their own time, behind all that is timed.
    counting: Option<String>,
    /// How long the timed part takes.
    takes: Takes,
    began: Instant,
    said: Instant,
}

impl Stage {
    /// Says a line a minute, so that a log shows that the run lives.
    fn log(&mut self) {
        if self.said.elapsed() >= MINUTE {
            self.said = Instant::now();
            tell(&format!("taskscale: {}, {}", self.passed(), self.doing()));
        }
    }

    /// The cell under way, or the row of it that is counted.
    fn doing(&self) -> &str {
        self.counting.as_deref().unwrap_or(&self.cell)
    }

    /// The time that has passed, of what there is.
    fn passed(&self) -> String {
        let passed = in_words(self.began.elapsed());
        match self.counting {
            Some(_) => passed,
            None => {
                let how = if self.takes.is_bound { "at most" } else { "about" };
                format!("{passed} of {how} {}", in_words(Duration::from_nanos(self.takes.ns)))
            }
        }
    }
}

/// A time by its seconds and minutes.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        ..60 => format!("{seconds} s"),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

fn lock(stage: &Mutex<Stage>) -> MutexGuard<'_, Stage> {
    stage.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Progress {
    /// Shows a run that takes so long on standard error.
    pub fn new(terminal: bool, takes: Takes, interrupt: Interrupt) -> Self {
        let target = if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let now = Instant::now();
        let stage = Stage { cell: String::new(), counting: None, takes, began: now, said: now };
        let stage = Arc::new(Mutex::new(stage));
        if !terminal {
            // A single request may take longer than a minute, so no event of the run will do.
            let stage = Arc::downgrade(&stage);
            std::thread::spawn(move || {
                while let Some(stage) = stage.upgrade() {
                    lock(&stage).log();
                    drop(stage);
                    std::thread::sleep(LOOK);
                }
            });
        }
        Progress {
            bars: MultiProgress::with_draw_target(target),
            heading: None,
            rows: Vec::new(),
            said: BTreeSet::new(),
            interrupt,
            stage,
        }
    }

    /// Takes everything off the screen.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.heading = None;
        // A terminal that is gone needs no clearing.
        self.bars.clear().ok();
    }

    fn line(&mut self, text: String) -> ProgressBar {
        let bar = self.bars.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        bar.set_message(clean(&text));
        bar
    }

    fn head(&self) {
        if let Some(heading) = &self.heading {
            let stage = lock(&self.stage);
            heading.set_message(clean(&format!("{}   {}", stage.doing(), stage.passed())));
            heading.tick();
        }
    }

    fn say(&self, row: &RowRecord, text: &str) {
        if let Some((_, bar)) = self.rows.iter().find(|(number, _)| *number == row.row) {
            bar.set_message(clean(&format!("  {:44} {text}", name(row))));
            bar.tick();
        }
    }
}

fn name(row: &RowRecord) -> String {
    let role = if row.role == Role::Control { " (A/A)" } else { "" };
    let size = figure::count(row.key.size);
    format!("{} {}{role} {size}", row.key.runtime, row.key.variant_and_case())
}

/// Says that no verdict can come out in the time of a cell, and which would do.
fn too_short(table: &str, size: u64, short: &Short) -> String {
    let seconds = |ns: u64| figure::time(ns as f64);
    format!(
        "{table}, n = {}: {} are too short for a verdict, which rests on {} processes of each side; one of each takes \
         {} here, so {} would do",
        figure::count(size),
        seconds(short.has_ns),
        short.pairs,
        seconds(short.pair_ns),
        figure::max_time(short.needs_ns as f64 / 1e9),
    )
}

/// Lines shown of what a user's code says: the end of a traceback.
const SAID_SHOWN: usize = 16;

impl Listener for Progress {
    fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::CellStarted { number, of, table, size, rows } => {
                let mut stage = lock(&self.stage);
                stage.counting = None;
                stage.cell = format!("[{number}/{of}] {table}, n = {}", figure::count(*size));
                drop(stage);
                let shown = |row: &RowRecord| self.rows.iter().any(|(number, _)| *number == row.row);
                let new: Vec<&RowRecord> = rows.iter().filter(|row| !shown(row)).collect();
                // Cells that have turns stay on the screen together where they fit.
                if self.rows.len() + new.len() > ROWS_SHOWN || self.heading.is_none() {
                    self.clear();
                    self.heading = Some(self.line(String::new()));
                }
                let missing: Vec<&RowRecord> = if self.rows.is_empty() { rows.iter().collect() } else { new };
                for row in missing.iter().take(ROWS_SHOWN) {
                    let bar = self.line(format!("  {:44}", name(row)));
                    self.rows.push((row.row, bar));
                }
                let unseen = missing.len().saturating_sub(ROWS_SHOWN);
                if unseen > 0 {
                    let bar = self.line(format!("  and {unseen} more"));
                    self.rows.push((u64::MAX, bar));
                }
                self.head();
            }
            Event::Calibrating { row } => {
                self.clear();
                let heading = format!("calibrating the work inside tasks: {}", row.key.runtime);
                lock(&self.stage).cell.clone_from(&heading);
                self.heading = Some(self.line(heading));
            }
            Event::Sampled { row, kind, round, rounds, cpu_per_task } => {
                lock(&self.stage).counting = None;
                let doing = match kind {
                    Kind::Timed | Kind::Phases => format!("round {:>3} of at most {rounds}", round + 1),
                    Kind::Verify => "checking its answer".to_owned(),
                    Kind::Pilot => "choosing iterations".to_owned(),
                    Kind::Warmup | Kind::Wake => "warming up".to_owned(),
                    Kind::Contrast => "holding its times to those seen".to_owned(),
                    Kind::SetAside => "stopped meanwhile, set aside".to_owned(),
                };
                self.say(row, &format!("{doing}   {:>9}", figure::time(*cpu_per_task)));
                self.head();
            }
            Event::Counting { row, process, processes } => {
                self.say(row, &format!("counting, process {} of {processes}", process + 1));
                let counting = format!("counting {}, process {} of {processes}", name(row), process + 1);
                lock(&self.stage).counting = Some(counting);
                self.head();
            }
            Event::Said { row, text } => {
                // Each size fails in the same way, as a rule.
                if self.said.insert(row.key.runtime.clone()) {
                    let skipped = text.lines().count().saturating_sub(SAID_SHOWN);
                    self.bars.suspend(|| {
                        tell(&format!("taskscale: {} said:", name(row)));
                        text.lines().skip(skipped).for_each(|line| quote(&format!("  {line}")));
                    });
                }
            }
            Event::TooShort { table, size, short } => {
                self.bars.suspend(|| tell(&format!("taskscale: {}", too_short(table, *size, short))));
            }
            Event::RowEnded { row, status } => match status {
                Status::Ok { .. } => self.say(row, "done"),
                Status::Failed(missing) => self.say(row, &format!("failed: {}", missing.reason)),
                Status::Skipped(missing) => self.say(row, &format!("skipped: {}", missing.reason)),
            },
            Event::CellEnded => (),
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt.came()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_counted_is_named_and_has_no_limit() {
        let row = json!({
            "row": 0, "suite": "bytes", "table": "", "workload": "bytes", "runtime": "go", "version": "1",
            "variant": "Read/range", "case": {}, "params": {}, "size": 4096, "creates_task": false, "role": "row"
        });
        let row: RowRecord = serde_json::from_value(row).expect("a row");
        let mut takes = Takes { ns: 90_000_000_000, is_bound: true };
        let mut progress = Progress::new(false, takes, Interrupt::default());
        progress.event(&Event::Counting { row: &row, process: 1, processes: 3 });
        assert_eq!(lock(&progress.stage).doing(), "counting go Read/range 4,096, process 2 of 3");
        assert_eq!(lock(&progress.stage).passed(), "0 s");
        progress.event(&Event::CellStarted { number: 2, of: 3, table: "bytes", size: 4096, rows: &[] });
        assert_eq!(lock(&progress.stage).doing(), "[2/3] bytes, n = 4,096");
        assert_eq!(lock(&progress.stage).passed(), "0 s of at most 1 min 30 s");
        takes.is_bound = false;
        let progress = Progress::new(false, takes, Interrupt::default());
        assert_eq!(lock(&progress.stage).passed(), "0 s of about 1 min 30 s");
    }

    #[test]
    fn a_build_is_told_every_half_minute_where_no_terminal_is() {
        let building = Building { terminal: false, ..Building::new(Interrupt::default()) };
        building.begins("building mine.rs with cargo 1.95, once");
        assert_eq!(building.due("Compiling tokio v1.54.1"), None, "it was told now");
        let before = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds)).expect("a while ago");
        building.told.set(before(30));
        let line = "taskscale: 0 s, building mine.rs with cargo 1.95, once: Compiling tokio v1.54.1";
        assert_eq!(building.due("Compiling tokio v1.54.1").as_deref(), Some(line));
        assert_eq!(building.due(""), None, "it was told now");
        building.told.set(before(30));
        assert_eq!(
            building.due("").as_deref(),
            Some("taskscale: 0 s, building mine.rs with cargo 1.95, once")
        );
    }
}
