//! The digest, at any moment, as text or JSON.

use std::{fmt, sync::Arc};

use taskscale_live::{Observer, Options};
use taskscale_model::digest::Digest;
use taskscale_report::{digest_json, digest_text};
use tokio::runtime::{Handle, RuntimeFlavor};

#[cfg(tokio_unstable)]
use crate::seats::Seats;
#[cfg(not(tokio_unstable))]
use crate::unseen::Counters;

/// The work outside the polls that tokio reports.
#[cfg(tokio_unstable)]
const NOT_OBSERVED: &str = "not observed: spawn_blocking, the future of block_on, tasks of a LocalSet";

/// Why the digest has no queue delays, and how it gets them.
const NOT_ASKED: (&str, &str) = (
    "tokio was not asked when tasks became ready",
    "build with the feature `schedule-latency` and call `queue_delays()` of `observe`",
);

/// The number of bytes of a name that the text shows.
const SHOWN: usize = 24;

/// The observer of a runtime. Any thread may ask it, while the runtime runs and after it has ended.
/// Clones are the same observer.
///
/// Its text form (`{}`) is the present digest, in at most 2,048 bytes.
#[derive(Debug, Clone)]
pub struct Live {
    observer: Arc<Observer>,
    #[cfg(tokio_unstable)]
    seats: Arc<Seats>,
    #[cfg(not(tokio_unstable))]
    counters: Arc<Counters>,
}

impl Live {
    #[cfg(tokio_unstable)]
    pub(crate) fn of(runtime: &Handle, seats: Arc<Seats>, exact: bool) -> Self {
        let workers = runtime.metrics().num_workers();
        let observer = observer(runtime, exact);
        seats.open(&observer, workers);
        Live { observer, seats }
    }

    #[cfg(not(tokio_unstable))]
    pub(crate) fn of(runtime: &Handle, exact: bool) -> Self {
        let observer = observer(runtime, exact);
        Live { observer, counters: Arc::new(Counters::new(runtime.metrics())) }
    }

    /// The digest of what the workers have done since the runtime was built or
    /// [`clear`](Live::clear) was called. Polls go on meanwhile, and an open poll counts up to now.
    /// The call takes about a millisecond in a build without optimisation.
    #[cfg(tokio_unstable)]
    pub fn digest(&self) -> Digest {
        self.seats.count_waits(&self.observer);
        let mut digest = self.observer.digest();
        let elsewhere = self.seats.elsewhere();
        if elsewhere > 0 {
            digest.dropped.seen += elsewhere;
            digest.dropped.dropped.push(taskscale_model::span::Dropped {
                reason: "polls on no worker".into(),
                events: elsewhere,
            });
        }
        digest.notes.push(NOT_OBSERVED.into());
        digest
    }

    /// The digest without `--cfg tokio_unstable`: how long the workers were not parked. All other
    /// figures are missing, with reason and remedy.
    #[cfg(not(tokio_unstable))]
    pub fn digest(&self) -> Digest {
        self.counters.digest(self.observer.digest())
    }

    /// The present digest as JSON (`taskscale.digest/1`).
    pub fn json(&self) -> String {
        digest_json(&self.digest())
    }

    /// Forgets everything so far. Polls that are open now are left out when they end.
    pub fn clear(&self) {
        #[cfg(tokio_unstable)]
        self.seats.count_waits(&self.observer);
        self.observer.clear();
        #[cfg(not(tokio_unstable))]
        self.counters.clear();
    }

    /// The memory that the observer holds, in bytes.
    pub fn bytes(&self) -> usize {
        #[cfg(tokio_unstable)]
        let rest = self.seats.bytes();
        #[cfg(not(tokio_unstable))]
        let rest = self.counters.bytes();
        self.observer.bytes() + rest
    }
}

fn observer(runtime: &Handle, exact: bool) -> Arc<Observer> {
    // An observer has places for 65,536 workers.
    let workers = u32::try_from(runtime.metrics().num_workers()).unwrap_or(u32::MAX);
    Observer::new(Options {
        workers: Some(workers),
        source: "tokio".into(),
        exact,
        // A thread that calls `block_on` of a `current_thread` runtime does other things between
        // the calls, and does not say so.
        own_threads: runtime.runtime_flavor() != RuntimeFlavor::CurrentThread,
        no_ready_times: Some(NOT_ASKED),
        waits_are_told: runtime.runtime_flavor() != RuntimeFlavor::CurrentThread,
        ..Options::default()
    })
}

impl fmt::Display for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digest = self.digest();
        let names = digest.names.top.iter_mut().map(|cost| &mut cost.name);
        for name in names.chain(digest.outliers.iter_mut().map(|outlier| &mut outlier.name)) {
            *name = end(name).to_owned();
        }
        f.write_str(&digest_text(&digest))
    }
}

/// As much of a path's end as the text shows. Folders in front are cut off, because the text would
/// show nothing else.
fn end(path: &str) -> &str {
    let mut rest = path;
    while let Some((_, shorter)) = rest.split_once('/').filter(|_| rest.len() > SHOWN) {
        rest = shorter;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_the_end_is_shown() {
        assert_eq!(end("src/main.rs:7"), "src/main.rs:7");
        assert_eq!(end("crates/tokio/examples/patterns/programs.rs:89"), "patterns/programs.rs:89");
        assert_eq!(end("a-file-with-a-name-of-its-own.rs:1"), "a-file-with-a-name-of-its-own.rs:1");
    }
}
