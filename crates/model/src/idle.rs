//! Tasks that arrive while a runtime has almost nothing to do.

use crate::params::{ParamValue, Params};

/// The workload whose size is the milliseconds that are watched.
pub const WORKLOAD: &str = "idle";
/// The parameter that says how many tasks arrive a second.
pub const RATE: &str = "rate";
/// The rates that there are: each divides a second into whole milliseconds.
pub const RATES: [u64; 4] = [1, 10, 100, 1_000];

/// How many tasks arrive in so many milliseconds; `None` where that is no whole number, or none. An
/// absent rate is the highest, at which every size will do.
pub fn arrivals(size: u64, params: &Params) -> Option<u64> {
    let rate = match params.get(RATE) {
        Some(ParamValue::Integer(rate)) => *rate,
        _ => RATES[RATES.len() - 1],
    };
    let thousand = size.checked_mul(rate)?;
    (thousand > 0 && thousand.is_multiple_of(1_000)).then_some(thousand / 1_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_a_whole_number() {
        let at = |size, rate| arrivals(size, &Params::from([(RATE.to_owned(), ParamValue::Integer(rate))]));
        assert_eq!([1, 10, 100, 1_000].map(|rate| at(1_000, rate)), [1, 10, 100, 1_000].map(Some));
        assert_eq!(
            [at(7, 1_000), at(20, 100), at(999, 1), at(15, 100), at(0, 10)],
            [Some(7), Some(2), None, None, None]
        );
        assert_eq!(arrivals(7, &Params::new()), Some(7));
    }
}
