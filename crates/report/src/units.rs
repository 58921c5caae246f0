//! What a figure is of, in words. A workload that no suite knows has a size n, and nobody says what
//! a unit of it is.

use taskscale_model::{suite::is_free, summary::Summary};

/// A legend that says `per task`, in the words of this run.
pub(crate) fn of_run(legend: &str, summary: &Summary) -> String {
    match summary.rows.iter().all(|row| is_free(&row.key.suite)) {
        true => legend.replacen("per task", "per unit of n", 1),
        false => legend.to_owned(),
    }
}
