//! A run file that cannot be written on, at every write that a run makes: what was written before
//! is read, and the run ends with the system's own error.

use std::io::{self, Write};

use taskscale_analysis::{ReadError, parse_run};

use super::{Behaviour, Setting, measure_into};

/// What the system does to a write.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Trouble {
    /// The disk is full.
    Full,
    /// The disk is full behind the first half of the line.
    FullWithin,
    /// The disk is broken.
    Broken,
    /// Half of the line is taken at first: no error.
    Short,
    /// A signal came: no error.
    Signal,
    /// Nothing is taken, and no error is told.
    Nothing,
    /// The process is killed within the line: nothing of it comes back.
    Kill,
}

const FULL: i32 = 28;
const BROKEN: i32 = 5;

/// A file that meets trouble at its n-th line, and as long as the trouble lasts.
struct Disk {
    trouble: Trouble,
    at: usize,
    lines: usize,
    met: bool,
    held: Vec<u8>,
}

impl Disk {
    fn new(trouble: Trouble, at: usize) -> Self {
        Disk { trouble, at, lines: 0, met: false, held: Vec::new() }
    }

    fn take(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.extend_from_slice(bytes);
        self.lines += bytes.iter().filter(|byte| **byte == b'\n').count();
        Ok(bytes.len())
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.lines != self.at {
            return self.take(bytes);
        }
        let half = &bytes[..bytes.len() / 2];
        let first = !std::mem::replace(&mut self.met, true);
        match self.trouble {
            Trouble::Full => Err(io::Error::from_raw_os_error(FULL)),
            Trouble::FullWithin | Trouble::Kill if first => self.take(half),
            Trouble::FullWithin => Err(io::Error::from_raw_os_error(FULL)),
            Trouble::Broken => Err(io::Error::from_raw_os_error(BROKEN)),
            Trouble::Short if first => self.take(half),
            Trouble::Signal if first => Err(io::ErrorKind::Interrupted.into()),
            Trouble::Short | Trouble::Signal => self.take(bytes),
            Trouble::Nothing => Ok(0),
            // Whoever is killed writes nothing more; an error ends this run in its place.
            Trouble::Kill => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run with two rows, of which one fails, that is counted too.
fn run_on(disk: &mut Disk) -> io::Result<()> {
    let behaviours = [("a", Behaviour::Costs(100)), ("b", Behaviour::LiesFrom(9))];
    measure_into(&behaviours, Setting { counted: true, ..Setting::default() }, disk).0
}

#[test]
fn at_every_write_what_was_written_before_is_kept_and_read() {
    let mut whole = Disk::new(Trouble::Short, usize::MAX);
    run_on(&mut whole).expect("written");
    assert!(whole.lines > 40, "{} lines", whole.lines);
    let all = parse_run(&whole.held).expect("a run file");
    for at in 0..whole.lines {
        for trouble in [Trouble::Short, Trouble::Signal] {
            let mut disk = Disk::new(trouble, at);
            run_on(&mut disk).expect("no error");
            assert!(disk.met && disk.held == whole.held, "{trouble:?} at line {at}");
        }
        for trouble in [Trouble::Full, Trouble::FullWithin, Trouble::Broken, Trouble::Nothing, Trouble::Kill]
        {
            let mut disk = Disk::new(trouble, at);
            let error = run_on(&mut disk).expect_err("it cannot be written");
            let code = match trouble {
                Trouble::Full | Trouble::FullWithin => Some(FULL),
                Trouble::Broken => Some(BROKEN),
                _ => None,
            };
            assert_eq!(error.raw_os_error(), code, "{trouble:?} at line {at}: {error}");
            assert!(whole.held.starts_with(&disk.held), "{trouble:?} at line {at}");
            let run = match parse_run(&disk.held) {
                Ok(run) => run,
                Err(ReadError::Empty) if at == 0 => continue,
                Err(error) => panic!("{trouble:?} at line {at}: {error}"),
            };
            let cut = matches!(trouble, Trouble::FullWithin | Trouble::Kill);
            assert_eq!(run.notes.iter().any(|note| note.contains("cut short")), cut, "{:?}", run.notes);
            assert!(all.samples.starts_with(&run.samples) && all.rows.starts_with(&run.rows));
            let records = |run: &taskscale_analysis::Run| {
                1 + run.runtimes.len()
                    + run.rows.len()
                    + run.samples.len()
                    + run.rounds.len()
                    + run.counts.len()
                    + run.row_ends.len()
            };
            assert_eq!(records(&run), at, "{trouble:?}: all whole lines are read");
            assert_eq!(run.ended, None);
        }
    }
}
