//! What a figure is of, in words. A workload that no suite knows has a size n, and nobody says what
//! a unit of it is.

use taskscale_model::{figure::count, suite::FREE, summary::Summary};

/// Whether a suite of this name says nothing of its units.
pub(crate) fn is_free(suite: &str) -> bool {
    suite == FREE
}

/// A legend that says `per task`, in the words of this run.
pub(crate) fn of_run(legend: &str, summary: &Summary) -> String {
    match summary.rows.iter().all(|row| is_free(&row.key.suite)) {
        true => legend.replacen("per task", "per unit of n", 1),
        false => legend.to_owned(),
    }
}

/// `64 tasks`, or `n = 64`.
pub(crate) fn size(suite: &str, size: u64) -> String {
    if is_free(suite) { format!("n = {}", count(size)) } else { format!("{} tasks", count(size)) }
}
