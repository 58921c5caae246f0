//! Reads one file or several.

use std::{collections::HashMap, io::Read};

use taskscale_model::span::{Account, SpanSink};

use crate::{
    chrome::{self, Counts, Pools, Told, thread_key},
    dask,
    error::TraceError,
    format::Format,
    ninja,
    options::{Clock, Options},
    ray, tfp, tfprof,
    unpack::Unpacked,
    window::Window,
    workers::{MOST_WORKERS, WorkerTable},
};

/// Reads several files into one sink. Workers of different files stay apart; times are the files'
/// own, unless they are aligned.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    workers: WorkerTable,
    clock: Clock,
    files: u64,
    /// What the flows of the last file told.
    flows: Counts,
    /// The pools of the last file, where it has any.
    pools: Option<Pools>,
}

impl Reader {
    /// Makes a reader that uses these options for all its files.
    pub fn new(options: Options) -> Self {
        let clock = clock(&options);
        Reader {
            options,
            workers: WorkerTable::new(),
            clock,
            files: 0,
            flows: Counts::default(),
            pools: None,
        }
    }

    /// Reads one file to its end, packed by gzip or zstd or as it is. Takes at most 4 MiB of memory
    /// for the window and a few MB for bounded tables, at any length. zstd data take what their
    /// frames ask for on top: 8 MiB by `zstd -19`, 128 MiB by `zstd --long` (139 MB in all were
    /// seen), and never more than 256 MiB.
    pub fn read(&mut self, input: impl Read, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
        if self.files > 0 {
            self.workers.next_file();
        }
        self.files += 1;
        self.pools = None;
        self.file(input, sink)
    }

    /// Reads the last file once more, from its beginning. Its workers have the same numbers.
    pub fn read_again(&mut self, input: impl Read, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
        self.workers.file_again();
        self.file(input, sink)
    }

    fn file(&mut self, input: impl Read, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
        self.clock = clock(&self.options);
        let mut input = Unpacked::open(input).map_err(|source| TraceError::Io { bytes: 0, source })?;
        let result = self.read_unpacked(&mut input, sink);
        match (result, input.trouble()) {
            (Ok(mut account), Some(trouble)) => {
                account.notes.insert(0, format!("{trouble}; what could be unpacked was read"));
                Ok(account)
            }
            // The reason why there is no trace in it is the trouble.
            (Err(TraceError::Empty | TraceError::NotATrace { .. }), Some(trouble)) => {
                Err(TraceError::Packed { trouble: trouble.to_owned() })
            }
            (result, _) => result,
        }
    }

    fn read_unpacked(
        &mut self,
        input: &mut Unpacked<impl Read>,
        sink: &mut impl SpanSink,
    ) -> Result<Account, TraceError> {
        let mut window = Window::open(input)?;
        let (options, workers, clock) = (&self.options, &mut self.workers, &mut self.clock);
        self.flows = Counts::default();
        let format = Format::of(window.data())?;
        let is_of_chrome = format == Format::Chrome;
        let mut account = match format {
            Format::Chrome => chrome::read(&mut window, options, workers, clock, self.pools, sink).map(
                |(account, flows, pools)| {
                    (self.flows, self.pools) = (flows, Some(pools));
                    account
                },
            ),
            Format::Tfprof => tfprof::read(&mut window, options, workers, clock, sink),
            Format::Tfp => tfp::read(&mut window, options, workers, clock, sink),
            Format::Dask => dask::read(&mut window, options, workers, clock, sink),
            Format::RayTasks => ray::read(&mut window, options, workers, clock, sink),
            Format::Ninja => ninja::read(&mut window, options, workers, clock, sink),
        }?;
        if self.options.unit.is_some() && !is_of_chrome {
            account.notes.push("--unit is not used: this format has a unit of its own".to_owned());
        }
        self.workers.settle_names();
        let folded = self.workers.folded();
        if folded > 0 {
            // This note comes first, since a text may show only the first ones.
            account.notes.insert(
                0,
                format!(
                    "{folded} events are of workers beyond the first {MOST_WORKERS}; they share one place"
                ),
            );
        }
        Ok(account)
    }

    /// Tells whether all flows of the last file were told, and rightly in any order of its events.
    /// Where they were not, a [`Sorter`](crate::Sorter) tells more of them.
    pub fn flows_are_sure(&self) -> bool {
        self.flows.are_sure()
    }

    /// Tells whether the tasks of the last file were those of its pool. Where they were not,
    /// [`Reader::read_again`] gives the right ones.
    pub fn pool_is_right(&self) -> bool {
        self.pools.is_none_or(|pools| pools.are_right())
    }

    /// Corrects the account of the last file once a [`Sorter`](crate::Sorter) has told its flows.
    pub fn retell(&self, told: Told, account: &mut Account) {
        if let Some(note) = self.flows.note() {
            account.notes.retain(|other| *other != note);
        }
        account.untold = self.flows.untold(told);
        account.notes.extend(told.note());
    }

    /// The workers of the last file by the hashes of process and thread.
    pub(crate) fn tracks(&self) -> HashMap<u64, u32> {
        self.workers.tracks().map(|(process, thread, index)| (thread_key(process, thread), index)).collect()
    }

    /// The origin of times of the last file, on its clock.
    pub(crate) fn origin(&self) -> i64 {
        self.clock.origin().unwrap_or(0)
    }

    /// Returns the workers of all files so far.
    pub fn workers(&self) -> &WorkerTable {
        &self.workers
    }
}

/// Returns the clock of a file.
fn clock(options: &Options) -> Clock {
    if options.align { Clock::of_first() } else { Clock::of_source() }
}

/// Reads one trace to its end. [`Reader`] reads several.
///
/// On a machine where `md5sum` takes 134 ns for an event of 90 bytes, the event costs 23 ns of CPU
/// time if its shape repeats and 81 ns if it does not (experiment `speed`).
pub fn read(input: impl Read, options: &Options, sink: &mut impl SpanSink) -> Result<Account, TraceError> {
    Reader::new(options.clone()).read(input, sink)
}
