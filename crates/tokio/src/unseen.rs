//! What the digest says where polls cannot be seen: tokio's own counters, and a reason and a remedy
//! for everything else.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use taskscale_model::{
    digest::{Confidence, ConfidenceGrade, Digest, Pattern, PatternName, Speedup, WorkerDetail, by_busy},
    missing::Reading,
};
use tokio::runtime::RuntimeMetrics;

/// The reason why nothing is known of polls.
const REASON: &str = "polls are not seen: tokio was built without its unstable hooks";
/// The remedy.
const REMEDY: &str = "build with RUSTFLAGS=\"--cfg tokio_unstable\"";
/// The number of workers that a digest lists at either end, as one from spans does.
const LISTED: usize = 8;

/// tokio's counters, and their values at the last clearing.
#[derive(Debug)]
pub struct Counters {
    metrics: RuntimeMetrics,
    since: Mutex<Count>,
}

/// The values of the counters at one moment.
#[derive(Debug, Clone)]
struct Count {
    at: Instant,
    /// The time that each worker was not parked, as far as tokio has added it up. tokio does so
    /// when a worker parks and every so many polls.
    busy: Vec<Duration>,
    parks: u64,
}

impl Count {
    fn now(metrics: &RuntimeMetrics) -> Self {
        let workers = 0..metrics.num_workers();
        #[cfg(target_has_atomic = "64")]
        let (busy, parks) = (
            workers.clone().map(|worker| metrics.worker_total_busy_duration(worker)).collect(),
            workers.map(|worker| metrics.worker_park_count(worker)).sum(),
        );
        #[cfg(not(target_has_atomic = "64"))]
        let (busy, parks) = (workers.map(|_| Duration::ZERO).collect(), 0);
        Count { at: Instant::now(), busy, parks }
    }
}

impl Counters {
    pub fn new(metrics: RuntimeMetrics) -> Self {
        let since = Mutex::new(Count::now(&metrics));
        Counters { metrics, since }
    }

    /// Makes the present values those to count from.
    pub fn clear(&self) {
        *self.since() = Count::now(&self.metrics);
    }

    /// The memory in bytes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.since().busy.capacity() * size_of::<Duration>()
    }

    /// Fills in what the counters tell, and why there is no more. `digest` is one without tasks.
    ///
    /// Time that is not parked holds polls, what the scheduler does between them, and its search
    /// for tasks. It is therefore no worker's *work*, and the losses stay empty. It is shown as
    /// what it bounds from above: how busy each worker was.
    pub fn digest(&self, mut digest: Digest) -> Digest {
        let (since, now) = (self.since().clone(), Count::now(&self.metrics));
        let window = now.at.saturating_duration_since(since.at);
        let share = |time: Duration| time.as_secs_f64() / window.as_secs_f64().max(1e-9);
        let busy: Vec<f64> = now
            .busy
            .iter()
            .zip(&since.busy)
            // A worker may have added up time from before the clearing.
            .map(|(now, before)| share(now.saturating_sub(*before)).min(1.0))
            .collect();
        digest.window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        digest.parallelism.mean = busy.iter().sum();
        workers(&mut digest, &busy);

        digest.duration = Reading::missing(REASON, REMEDY);
        digest.gap = Reading::missing(REASON, REMEDY);
        digest.scheduling_cost_ns = Reading::missing(REASON, REMEDY);
        digest.break_even_ns = Reading::missing(REASON, REMEDY);
        digest.nesting.parent_self = Reading::missing(REASON, REMEDY);
        digest.patterns = vec![Pattern {
            name: PatternName::Inconclusive,
            share: 0.0,
            evidence: REASON.into(),
            remedy: REMEDY.into(),
            change: None,
            predicted: Speedup { from: 1.0, to: 1.0 },
            bound: 1.0,
            shortens_tasks: false,
            tasks: Vec::new(),
            threads: Vec::new(),
            when: Vec::new(),
            all_along: false,
        }];
        digest.confidence =
            Confidence { grade: ConfidenceGrade::Low, margin: 0.0, reasons: vec![REASON.into()] };
        let note = if cfg!(target_has_atomic = "64") {
            format!(
                "by tokio's counters: not parked for {:.1} % of workers x window, parked {} times",
                100.0 * digest.parallelism.mean / busy.len().max(1) as f64,
                now.parks.saturating_sub(since.parks)
            )
        } else {
            "tokio's counters need atomics of 64 bits, which this target lacks".into()
        };
        digest.notes.insert(0, note);
        digest.notes.push(format!("{REASON}; {REMEDY}"));
        digest
    }

    fn since(&self) -> MutexGuard<'_, Count> {
        // A panic can leave nothing half done here, because there is only one assignment.
        self.since.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells how busy each worker was: all of them, or the most and the least busy ones.
fn workers(digest: &mut Digest, busy: &[f64]) {
    let mean = busy.iter().sum::<f64>() / busy.len().max(1) as f64;
    let most = busy.iter().copied().fold(0.0, f64::max);
    let variance = busy.iter().map(|busy| (busy - mean).powi(2)).sum::<f64>() / busy.len().max(1) as f64;
    let mut order: Vec<usize> = (0..busy.len()).collect();
    if busy.len() > 2 * LISTED {
        order.sort_by(|a, b| busy[*b].total_cmp(&busy[*a]));
        order.drain(LISTED..busy.len() - LISTED);
    }
    let detail = &mut digest.workers_detail;
    detail.active = busy.iter().filter(|busy| **busy > 0.0).count() as u64;
    detail.busy_max_over_mean = if mean > 0.0 { most / mean } else { 0.0 };
    detail.busy_variation = if mean > 0.0 { variance.sqrt() / mean } else { 0.0 };
    detail.by_busy = by_busy(busy.iter().copied());
    detail.folded = (busy.len() - order.len()) as u64;
    detail.workers = order
        .into_iter()
        .map(|worker| WorkerDetail {
            worker: worker as u32,
            thread: None,
            tasks: 0,
            busy: busy[worker],
            first_ns: 0,
            last_ns: digest.window_ns,
        })
        .collect();
}
