//! What growth is due to. The same operation in a benign form, at the same sizes, tells the form
//! from the machine.

use super::{Grade, Growth, LINEAR_MAX, SUPERLINEAR_MIN};

/// What superlinear growth is due to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// The control does not grow so. The cause is the measured form.
    Isolated,
    /// The control grows superlinearly too, or nearly as steeply. The cause may be the machine, the
    /// allocator or something else that both use.
    MachineOrAllocator,
    /// No control was measured at the sizes where growth was seen, or its growth is too uncertain
    /// to tell.
    NoControl,
}

/// By how much the exponent must exceed that of a control which grows itself: as much as
/// superlinear growth must exceed linear growth. A smaller excess would be no cliff if the control
/// were linear.
const EXCESS: f64 = SUPERLINEAR_MIN - 1.0;

/// The cause of superlinear growth, by any number of controls; `None` where no superlinear growth
/// needs a cause. One control that does not share the growth is enough. O(controls x sizes).
///
/// A control must hold all sizes that the row is judged by. To isolate the row it must have a grade
/// itself. Collected runtimes make many a good control grow softly (1.1 to 1.3). Such a control
/// still isolates where the row's exponent exceeds its own by 0.3, the lower bound of the
/// difference too. A control above linear growth and within 0.3 of the row shares its cause: held
/// to one CPU, Swift's task groups grew with 1.43, 1.52 and 1.49 over three octaves, and loose
/// tasks beside them with 1.4.
pub fn cause<'a>(row: &Growth, controls: impl IntoIterator<Item = &'a Growth>) -> Option<Cause> {
    if !row.grade.is_superlinear() {
        return None;
    }
    let judged: Vec<Cause> = controls.into_iter().map(|control| of_one(row, control)).collect();
    let found = |cause| judged.contains(&cause).then_some(cause);
    Some(found(Cause::Isolated).or_else(|| found(Cause::MachineOrAllocator)).unwrap_or(Cause::NoControl))
}

/// Whether growth of this grade and cause is no verdict about the form. What other forms share may
/// be a cache or a collector up to [`QUADRATIC_MIN`](super::QUADRATIC_MIN), which neither of them
/// reached over three octaves.
pub fn is_shared(grade: Grade, cause: Cause) -> bool {
    grade == Grade::Superlinear && cause == Cause::MachineOrAllocator
}

fn of_one(row: &Growth, control: &Growth) -> Cause {
    let (Some(grown), Some(tail)) = (row.judged(), &control.tail) else { return Cause::NoControl };
    let same_sizes = grown.sizes.iter().all(|size| control.sizes.contains(size));
    if !same_sizes {
        return Cause::NoControl;
    }
    let alike = tail.exponent > LINEAR_MAX && grown.exponent - tail.exponent <= EXCESS;
    if control.grade.is_superlinear() || alike {
        return Cause::MachineOrAllocator;
    }
    // The intervals are independent, so their widths add as squares.
    let width = (grown.exponent - grown.interval.0).hypot(tail.interval.1 - tail.exponent);
    let exceeds = grown.exponent - tail.exponent - width > EXCESS;
    if exceeds && control.grade.is_grade() { Cause::Isolated } else { Cause::NoControl }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::{Clock, SizeCost, judge};

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
        assert_eq!(cause(&steep, [&growth(5, |n| n.powf(1.25))]), Some(Cause::MachineOrAllocator));
        assert_eq!(cause(&steep, [&growth(5, |n| n.powf(1.1))]), Some(Cause::Isolated));
    }

    #[test]
    fn growth_that_the_control_shares_is_no_verdict_unless_it_is_quadratic() {
        let of = |power: f64| growth(5, |n| n.powf(power));
        let shared =
            |row: &Growth, control: &Growth| is_shared(row.grade, cause(row, [control]).expect("it grows"));
        assert!(shared(&of(1.5), &of(1.5)) && shared(&of(1.5), &of(1.25)));
        assert!(!shared(&of(1.5), &of(1.0)) && !shared(&of(2.0), &of(2.0)));
    }
}
