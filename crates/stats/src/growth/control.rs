//! Whose fault growth is: the same operation in a benign form, at the same sizes, tells the form from the machine.

use super::{Growth, SUPERLINEAR_MIN};

/// What superlinear growth is due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The control does not grow so: it is the form that was measured.
    Isolated,
    /// The control grows superlinearly too: machine, allocator or something else that both use.
    MachineOrAllocator,
    /// No control was graded at the sizes on which the growth was seen, or it grows too nearly alike.
    NoControl,
}

/// By how much the exponent must exceed that of a control that grows softly itself: as much as superlinear growth must
/// exceed linear.
const EXCESS: f64 = SUPERLINEAR_MIN - 1.0;

/// The cause of superlinear growth, from any number of controls; `None` where there is none to explain. One control that
/// does not share the growth is enough. O(controls x sizes).
///
/// A control must be graded itself and hold all sizes of the last three octaves of the row. Collected runtimes make
/// many a good control grow softly (1.1 to 1.3): it still isolates where the row's exponent exceeds its own by 0.3,
/// the lower bound of the difference too.
pub fn cause<'a>(row: &Growth, controls: impl IntoIterator<Item = &'a Growth>) -> Option<Cause> {
    if !row.grade.is_superlinear() {
        return None;
    }
    let judged: Vec<Cause> = controls.into_iter().map(|control| of_one(row, control)).collect();
    let found = |cause| judged.contains(&cause).then_some(cause);
    Some(found(Cause::Isolated).or_else(|| found(Cause::MachineOrAllocator)).unwrap_or(Cause::NoControl))
}

fn of_one(row: &Growth, control: &Growth) -> Cause {
    let (Some(grown), Some(tail)) = (row.judged(), &control.tail) else { return Cause::NoControl };
    let same_sizes = grown.sizes.iter().all(|size| control.sizes.contains(size));
    if !same_sizes || !control.grade.is_grade() {
        return Cause::NoControl;
    }
    if control.grade.is_superlinear() {
        return Cause::MachineOrAllocator;
    }
    // Both intervals are independent, so the widths add as squares.
    let width = (grown.exponent - grown.interval.0).hypot(tail.interval.1 - tail.exponent);
    if grown.exponent - tail.exponent - width > EXCESS { Cause::Isolated } else { Cause::NoControl }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::{Clock, Grade, SizeCost, judge};

    fn growth(sizes: u32, cost: impl Fn(f64) -> f64) -> Growth {
        let totals: Vec<(u64, [f64; 6])> =
            (0..sizes).map(|k| 1000 << k).map(|n: u64| (n, [cost(n as f64); 6])).collect();
        let costs: Vec<SizeCost<'_>> =
            totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
        judge(&costs, Clock::Cpu, None, &mut fastrand::Rng::with_seed(1))
    }

    #[test]
    fn a_control_tells_the_form_from_the_machine() {
        let quadratic = growth(5, |n| n * n);
        let linear = growth(5, |n| 20.0 * n);
        let soft = growth(5, |n| n.powf(1.2));
        assert_eq!(soft.grade, Grade::SoftGrowth);
        assert_eq!(cause(&linear, [&linear]), None, "nothing to explain");
        assert_eq!(cause(&quadratic, []), Some(Cause::NoControl));
        assert_eq!(cause(&quadratic, [&linear]), Some(Cause::Isolated));
        assert_eq!(
            cause(&quadratic, [&soft]),
            Some(Cause::Isolated),
            "a collector's growth is not the row's"
        );
        assert_eq!(cause(&quadratic, [&quadratic]), Some(Cause::MachineOrAllocator));
        assert_eq!(
            cause(&quadratic, [&quadratic, &linear]),
            Some(Cause::Isolated),
            "one good control is enough"
        );
    }

    #[test]
    fn a_control_of_other_sizes_or_of_nearly_the_same_growth_isolates_nothing() {
        let quadratic = growth(5, |n| n * n);
        assert_eq!(cause(&quadratic, [&growth(4, |n| n)]), Some(Cause::NoControl), "16,000 was not measured");
        let steep = growth(5, |n| n.powf(1.5));
        assert!(steep.grade.is_superlinear());
        assert_eq!(cause(&steep, [&growth(5, |n| n.powf(1.25))]), Some(Cause::NoControl));
    }
}
