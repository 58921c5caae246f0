//! How many threads ran in the samples of each row, and why that is unknown for some.

use super::samples::{RowSamples, rows_in_words};

/// Process, number of threads and share of the busiest thread, for each timed sample whose threads
/// are known.
pub fn ran(one: &RowSamples<'_>) -> (Vec<u64>, Vec<f64>, Vec<f64>) {
    let known = one.timed.iter().filter_map(|sample| {
        let threads = sample.threads.as_ref()?.value().filter(|threads| threads.busiest_share.is_finite())?;
        Some((sample.process, (threads.ran as f64, threads.busiest_share)))
    });
    let (processes, values): (Vec<u64>, Vec<(f64, f64)>) = known.unzip();
    let (threads, busiest) = values.into_iter().unzip();
    (processes, threads, busiest)
}

/// Names the rows whose threads are mostly unknown, in one note for each reason.
pub fn notes(series: &[RowSamples<'_>]) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    for one in series.iter().filter(|one| one.is_ok()) {
        let missing = || {
            let why = one.timed.iter().filter_map(|sample| sample.threads.as_ref()?.why());
            why.map(|missing| &*missing.reason)
        };
        let Some(reason) = missing().next().filter(|_| 2 * missing().count() > one.timed.len()) else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => *rows += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let note =
        |(reason, rows)| format!("how many threads ran is not known of {}: {reason}", rows_in_words(rows));
    reasons.into_iter().map(note).collect()
}
