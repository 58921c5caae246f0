//! What counts as one observation.
//!
//! Samples of one process share its memory layout for life, and with it an error that no number of
//! rounds averages out. Pairs of identical tokio processes differed by 1 to 2 %, while intervals
//! over their rounds were 0.2 % wide and gave false alarms in 14 of 20 comparisons
//! (docs/evidence/processes.md). One observation is therefore one process: the median of its
//! samples.

use crate::quantile::median;

/// The median of each process's values, in the order in which processes appear. Where all values
/// are of one process, which says nothing about others, the result is the values themselves. Values
/// beyond the shorter of the two slices are ignored. O(n log n).
///
/// ```
/// use taskscale_stats::independent::independent;
/// assert_eq!(independent(&[0, 0, 0, 1], &[1.0, 3.0, 2.0, 9.0]), [2.0, 9.0]);
/// assert_eq!(independent(&[5, 5], &[1.0, 3.0]), [1.0, 3.0]);
/// ```
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
