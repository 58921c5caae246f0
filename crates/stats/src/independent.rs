//! What counts as one observation.
//!
//! Samples of one process share its memory layout for life, and with it an error that no number of
//! rounds averages out: pairs of identical tokio processes differed by 1 to 2 %, and intervals over
//! their rounds, which were 0.2 % wide, gave false alarms in 14 of 20 comparisons
//! (docs/evidence/processes.md). So the observation is the process: the median of its samples.

use crate::quantile::median;

/// The median of each process's values, in the order in which processes appear; the values
/// themselves where all are of one process, which then says nothing about others. O(n log n).
///
/// ```
/// use taskscale_stats::independent::independent;
/// assert_eq!(independent(&[0, 0, 0, 1], &[1.0, 3.0, 2.0, 9.0]), [2.0, 9.0]);
/// assert_eq!(independent(&[5, 5], &[1.0, 3.0]), [1.0, 3.0]);
/// ```
///
/// Values beyond the shorter of the two slices are ignored.
pub fn independent(processes: &[u64], values: &[f64]) -> Vec<f64> {
    let mut groups: Vec<(u64, Vec<f64>)> = Vec::new();
    for (&process, &value) in processes.iter().zip(values) {
        match groups.last_mut().filter(|group| group.0 == process) {
            Some((_, group)) => group.push(value),
            None => groups.push((process, vec![value])),
        }
    }
    match groups.as_slice() {
        [(_, only)] => only.clone(),
        many => many.iter().filter_map(|(_, group)| median(group)).collect(),
    }
}
