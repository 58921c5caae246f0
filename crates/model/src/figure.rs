//! Writes numbers as precisely as their interval allows, and no more precisely.

use crate::summary::Interval;

/// Significant digits of a number whose uncertainty is not known.
const DIGITS: i32 = 3;
/// Decimals at most: a hundredth of a nanosecond per task is beyond any clock.
const MAX_DECIMALS: i32 = 2;

/// The larger distance of an interval's ends from `centre`, which need not be the middle.
pub fn half_width(centre: f64, interval: Interval) -> f64 {
    (interval.1 - centre).max(centre - interval.0)
}

/// Rounds a value to the first digit of its uncertainty and groups thousands: 4479.3 with 81 is
/// `4,480`.
pub fn rounded(value: f64, uncertainty: Option<f64>) -> String {
    if !value.is_finite() {
        return "?".into();
    }
    let magnitude = |x: f64| x.abs().log10().floor() as i32;
    let place = match uncertainty {
        _ if value == 0.0 => 0,
        // The value keeps a digit of its own, however wide the interval.
        Some(uncertainty) if uncertainty > 0.0 => magnitude(uncertainty).min(magnitude(value)),
        _ => magnitude(value) - DIGITS + 1,
    };
    let place = place.max(-MAX_DECIMALS);
    if place >= 0 {
        let unit = 10_f64.powi(place);
        return grouped(&format!("{:.0}", (value / unit).round() * unit));
    }
    grouped(&format!("{value:.*}", place.unsigned_abs() as usize))
}

/// The unit that suits a time: its nanoseconds and its name.
fn unit_of(ns: f64) -> (f64, &'static str) {
    match ns.abs() {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "us"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// Writes a time in the unit that suits it, with three digits: `312 ns`, `4.48 us`, `12.3 ms`.
/// Nanoseconds are whole.
pub fn time(ns: f64) -> String {
    let (unit, name) = unit_of(ns);
    match ns / unit {
        // Nobody reads `-0`.
        value if unit == 1.0 && value.abs() < 0.5 => format!("0 {name}"),
        value if unit == 1.0 || value >= 100.0 => format!("{value:.0} {name}"),
        value if value >= 10.0 => format!("{value:.1} {name}"),
        value => format!("{value:.2} {name}"),
    }
}

/// Writes a time in the unit that suits it, rounded as by [`rounded`]: `312 ns`, `4.5 us`, `1.2
/// ms`.
pub fn duration(ns: f64, uncertainty: Option<f64>) -> String {
    let (unit, name) = unit_of(ns);
    // Three digits tell granularities apart, and no interval of theirs supports more.
    let fewest = ns.abs() / 1000.0;
    let digits = uncertainty.filter(|uncertainty| *uncertainty > fewest);
    format!("{} {name}", rounded(ns / unit, digits.map(|uncertainty| uncertainty / unit)))
}

/// Writes a forecast, in seconds, no more precisely than it is: `about 16 s`, `about 5 minutes`,
/// `about 3 hours`, and `more than a day`, which nobody waits for.
pub fn lasting(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 10.0 => format!("about {seconds:.1} s"),
        seconds if seconds < 120.0 => format!("about {seconds:.0} s"),
        seconds if seconds < 7_200.0 => format!("about {:.0} minutes", seconds / 60.0),
        seconds if seconds <= 86_400.0 => format!("about {:.0} hours", seconds / 3_600.0),
        _ => "more than a day".to_owned(),
    }
}

/// Groups the integer part of a decimal number by thousands.
pub fn grouped(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
    let (integer, fraction) = digits.split_once('.').map_or((digits, None), |(i, f)| (i, Some(f)));
    let mut text = String::from(sign);
    for (index, digit) in integer.chars().enumerate() {
        if index > 0 && (integer.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if let Some(fraction) = fraction {
        text.push('.');
        text.push_str(fraction);
    }
    text
}

/// Shows `seconds` of measuring as the flag that allows it, with a quarter more, since machines
/// change: whole seconds in steps of 5 up to a minute, of 30 up to ten, else minutes.
///
/// ```
/// use taskscale_model::figure::max_time;
/// assert_eq!([3.0, 30.0, 61.0, 900.0].map(max_time), ["--max-time 5s", "--max-time 40s", "--max-time 90s", "--max-time 19m"]);
/// ```
pub fn max_time(seconds: f64) -> String {
    let seconds = 1.25 * seconds.max(0.0);
    let upto = |step: f64| (seconds / step).ceil() * step;
    match seconds {
        _ if seconds <= 60.0 => format!("--max-time {:.0}s", upto(5.0).max(5.0)),
        _ if seconds <= 600.0 => format!("--max-time {:.0}s", upto(30.0)),
        _ => format!("--max-time {:.0}m", upto(60.0) / 60.0),
    }
}

/// Groups an integer by thousands.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Writes a share in percent, with one more digit below 10 and another below 1: `0.83`, `4.1`,
/// `38`.
pub fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        x if x < 0.995 => format!("{percent:.2}"),
        x if x < 9.95 => format!("{percent:.1}"),
        _ => format!("{percent:.0}"),
    }
}

/// Writes a median with half its interval in percent: `4,480 ±1.8%`. Without an interval it writes
/// the number alone.
pub fn with_interval(centre: f64, interval: Option<Interval>) -> String {
    let Some(interval) = interval else { return rounded(centre, None) };
    let half_width = half_width(centre, interval);
    if centre <= 0.0 {
        return rounded(centre, Some(half_width));
    }
    format!("{} {}", rounded(centre, Some(half_width)), spread(half_width / centre))
}

/// Writes half an interval as a share of its figure: `±1.9%`. One that is as wide as the figure
/// tells nothing but that.
pub fn spread(share: f64) -> String {
    if share < 1.0 { format!("±{}%", percent(share)) } else { "±>100%".into() }
}

/// Writes a ratio with its interval: `1.38x [1.35, 1.41]`. A tilde stands in front where the
/// interval contains 1.
pub fn ratio(ratio: f64, interval: Option<Interval>) -> String {
    let Some(interval) = interval else { return format!("{ratio:.2}x, no interval") };
    let decimals = match -half_width(ratio, interval).max(1e-4).log10().floor() {
        _ if ratio >= 10.0 => 1,
        decimals => decimals.clamp(2.0, 4.0) as usize,
    };
    // An end that rounds to 1 hides that the interval excludes 1, so it has more digits.
    let end = |end: f64| {
        let hides = |decimals: &usize| format!("{end:.decimals$}") == format!("{:.decimals$}", 1.0);
        let decimals = match contains_one(interval) {
            true => decimals,
            false => (decimals..4).find(|decimals| !hides(decimals)).unwrap_or(4),
        };
        format!("{end:.decimals$}")
    };
    let tilde = if contains_one(interval) { "~" } else { "" };
    format!("{tilde}{ratio:.decimals$}x [{}, {}]", end(interval.0), end(interval.1))
}

pub fn contains_one(interval: Interval) -> bool {
    interval.0 <= 1.0 && 1.0 <= interval.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_told_in_a_unit_that_people_wait_in() {
        let told = [0.94, 16.2, 300.0, 10_800.0, 72_886_447.0, f64::INFINITY].map(lasting);
        let more = "more than a day";
        assert_eq!(told, ["about 0.9 s", "about 16 s", "about 5 minutes", "about 3 hours", more, more]);
    }

    #[test]
    fn the_interval_decides_the_digits() {
        for (value, uncertainty, expected) in [
            (4479.3, Some(81.0), "4,480"),
            (4479.3, Some(2.0), "4,479"),
            (212.34, Some(0.3), "212.3"),
            (212.34, Some(0.000_1), "212.34"),
            (212.34, None, "212"),
            (1_234_567.0, None, "1,230,000"),
            (1_234_567.0, Some(1.0), "1,234,567"),
            (0.0, None, "0"),
            (0.0, Some(0.0), "0"),
            (-4479.3, Some(81.0), "-4,480"),
            (43.0, Some(400.0), "40"),
        ] {
            assert_eq!(rounded(value, uncertainty), expected, "{value} {uncertainty:?}");
        }
    }

    #[test]
    fn intervals_are_read_off() {
        assert_eq!(with_interval(212.0, Some(Interval(208.0, 214.0))), "212 ±1.9%");
        assert_eq!(with_interval(0.0, Some(Interval(0.0, 2.0))), "0");
        assert_eq!(with_interval(200.0, Some(Interval(150.0, 2_282.0))), "200 ±>100%");
        assert_eq!(ratio(1.38, Some(Interval(1.35, 1.41))), "1.38x [1.35, 1.41]");
        assert_eq!(ratio(1.5, Some(Interval(1.2, 1.8))), "1.50x [1.20, 1.80]");
        assert_eq!(ratio(1.01, Some(Interval(0.5, 1.8))), "~1.01x [0.50, 1.80]");
        assert_eq!(ratio(1.03, Some(Interval(1.002, 1.06))), "1.03x [1.002, 1.06]");
        assert_eq!(ratio(38.26, Some(Interval(37.0, 39.0))), "38.3x [37.0, 39.0]");
    }

    #[test]
    fn durations_have_the_unit_that_suits_them() {
        for (ns, uncertainty, expected) in [
            (312.4, None, "312 ns"),
            (4_512.0, Some(300.0), "4.5 us"),
            (4_512.0, Some(0.1), "4.51 us"),
            (1_234_567.0, None, "1.23 ms"),
            (2.5e9, None, "2.50 s"),
        ] {
            assert_eq!(duration(ns, uncertainty), expected);
        }
    }

    #[test]
    fn percentages_keep_two_digits() {
        assert_eq!([0.0083, 0.041, 0.38].map(percent), ["0.83", "4.1", "38"]);
    }
}
