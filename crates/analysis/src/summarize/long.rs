//! Rows without an answer whose growth says why: a cliff takes that long, and no deadlock is to be
//! looked for.

use std::collections::BTreeMap;

use taskscale_model::{
    figure::{count, lasting},
    key::SeriesKey,
    missing::{LONG_OR_STUCK, Missing},
    summary::{Growth, Row, RowState},
};

/// The least forecast that is told, in seconds: a shorter one does not explain why no answer came.
const LEAST_S: f64 = 0.5;

const DAY_S: f64 = 86_400.0;

/// Puts what the growth of a series foretells in the place of the advice to look for a deadlock.
/// All rows of a series have the forecast of its smallest size without an answer, so that they
/// stand together. O((rows + growth) log growth).
pub fn explain(rows: &mut [Row], growth: &[Growth]) {
    let growth: BTreeMap<&SeriesKey, &Growth> =
        growth.iter().filter(|growth| growth.is_cliff()).map(|growth| (&growth.key, growth)).collect();
    let mut smallest: BTreeMap<SeriesKey, u64> = BTreeMap::new();
    for row in rows.iter_mut().filter(|row| is_silent(row)) {
        let size = smallest.entry(row.key.series.clone()).or_insert(row.key.size);
        *size = row.key.size.min(*size);
    }
    for row in rows.iter_mut().filter(|row| is_silent(row)) {
        let foretold = growth.get(&row.key.series).zip(smallest.get(&row.key.series));
        let foretold = foretold.and_then(|(growth, size)| foretold_at(growth, *size));
        if let (Some(remedy), RowState::Failed(why) | RowState::Skipped(why)) = (foretold, &mut row.state) {
            why.remedy = remedy;
        }
    }
}

/// Whether it has no figure because no answer came in time.
fn is_silent(row: &Row) -> bool {
    let why: Option<&Missing> = row.missing();
    why.is_some_and(|why| why.remedy == LONG_OR_STUCK)
}

/// What to do about a series that grows so, at a size.
fn foretold_at(growth: &Growth, size: u64) -> Option<String> {
    let second = growth.one_second?;
    let seconds = (size as f64 / second.size).powf(second.exponent);
    // Nobody waits for days.
    let longer = if seconds > DAY_S { "" } else { "raise --timeout above that, or " };
    (seconds >= LEAST_S).then(|| {
        format!(
            "by its growth, n^{:.1}, size {} takes {}: {longer}name smaller sizes with --size",
            second.exponent,
            count(size),
            lasting(seconds)
        )
    })
}

#[cfg(test)]
mod tests {
    use taskscale_model::{
        key::RowKey,
        run_file::{Role, Time},
        summary::{Grade, OneSecond},
    };

    use super::*;

    fn growth(grade: Grade) -> Growth {
        Growth {
            key: SeriesKey::default(),
            sizes: vec![64, 512],
            exponent: Some(2.0),
            exponent_ci: None,
            time: Time::Cpu,
            steps: Vec::new(),
            grade,
            bend: None,
            bend_ci: None,
            one_second: Some(OneSecond {
                size: 1_000.0,
                low: 900.0,
                high: None,
                exponent: 2.0,
                measured: false,
            }),
            cause: None,
            growth_control: None,
            bytes: None,
            check: None,
            reason: None,
        }
    }

    fn remedies(rows: &[(u64, &str)], growth: &[Growth]) -> Vec<String> {
        let row = |(size, remedy): &(u64, &str)| Row {
            key: RowKey { size: *size, ..RowKey::default() },
            creates_task: None,
            role: Role::Row,
            sweep: None,
            baseline: None,
            state: RowState::Failed(Missing::new("no answer", *remedy)),
        };
        let mut rows: Vec<Row> = rows.iter().map(row).collect();
        explain(&mut rows, growth);
        rows.iter().filter_map(|row| Some(row.missing()?.remedy.clone())).collect()
    }

    #[test]
    fn a_cliff_that_takes_longer_than_an_answer_may_is_told_with_its_forecast() {
        let steep = [growth(Grade::QuadraticOrWorse)];
        let told = remedies(&[(8_000, LONG_OR_STUCK), (4_000, LONG_OR_STUCK), (4_000, "other")], &steep);
        let words = "by its growth, n^2.0, size 4,000 takes about 16 s: raise --timeout above that, or name \
                     smaller sizes with --size";
        assert_eq!(told, [words, words, "other"]);
        let days = remedies(&[(9_000_000, LONG_OR_STUCK)], &steep);
        assert!(days[0].ends_with("takes more than a day: name smaller sizes with --size"), "{days:?}");
        // A tenth of a second is no reason, and neither is what is linear.
        assert_eq!(remedies(&[(300, LONG_OR_STUCK)], &steep), [LONG_OR_STUCK]);
        assert_eq!(remedies(&[(4_000, LONG_OR_STUCK)], &[growth(Grade::Linear)]), [LONG_OR_STUCK]);
    }
}
