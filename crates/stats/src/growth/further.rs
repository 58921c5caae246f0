//! Sizes that would show whether growth lasts.

use super::{Grade, Growth, MIN_OCTAVES, Reason};

/// The sizes over [`MIN_OCTAVES`] from `from` on, each twice the one before it: what a grade needs.
pub fn over_octaves(from: u64) -> Vec<u64> {
    (0..=MIN_OCTAVES as u32).map(|octave| from.saturating_mul(1 << octave)).collect()
}

impl Growth {
    /// The sizes that would show whether growth lasts which is steep up to `most`, the largest size
    /// measured; none where further sizes are no help. From where it is steep, or from a quarter of
    /// `most`, they lie over three octaves; three octaves beyond `most` where processes of one size
    /// differ as much as sizes do, since the growth that they hide is larger there.
    ///
    /// A forecast of their cost starts from [`Growth::goes_on`].
    pub fn further(&self, most: u64) -> Vec<u64> {
        match self.grade {
            Grade::CannotTell(Reason::SteepAtTheEnd { from }) => over_octaves(from.max(most / 4)),
            Grade::CannotTell(Reason::TwoKinds { .. }) => over_octaves(most),
            _ => Vec::new(),
        }
    }

    /// The exponent by which the cost beyond the largest size is forecast where growth may last:
    /// that of the last step, between 1 and 3; 2 where there is no step.
    pub fn goes_on(&self) -> f64 {
        self.steps.last().map_or(2.0, |step| step.exponent.clamp(1.0, 3.0))
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::growth::{Clock, judge};

    #[test]
    fn sizes_go_on_from_where_growth_is_steep_or_beyond_all() {
        let with = |grade: Grade| Growth { grade, ..judge(&[], Clock::Cpu, None, &mut Rng::with_seed(1)) };
        let steep = |from| with(Grade::CannotTell(Reason::SteepAtTheEnd { from }));
        assert_eq!(steep(2_048).further(4_096), [2_048, 4_096, 8_192, 16_384]);
        assert_eq!(steep(64).further(4_096), [1_024, 2_048, 4_096, 8_192], "not what is known long since");
        let kinds = with(Grade::CannotTell(Reason::TwoKinds { spread: 3.0 }));
        assert_eq!(kinds.further(64), [64, 128, 256, 512]);
        assert_eq!(with(Grade::CannotTell(Reason::TooNoisy { width: 0.5 })).further(64), [0; 0]);
        assert_eq!(with(Grade::Linear).further(64), [0; 0]);
        assert_eq!(steep(u64::MAX / 2).further(u64::MAX).last(), Some(&u64::MAX));
    }
}
