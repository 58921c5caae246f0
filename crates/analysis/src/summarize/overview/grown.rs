//! How cost grows with the number of tasks, in sentences: cliffs, soft growth, what is linear, and
//! what has no grade.

use taskscale_model::{
    figure::{count, rounded},
    suite::{is_free, sized},
    summary::{Finding, FindingKind, Grade, Growth, Row},
};
use taskscale_stats::growth::MIN_SIZES;

use super::findings::{listed, plain};

/// Series whose cost grows, the steepest first.
pub fn cliffs(growth: &[Growth]) -> Vec<Finding> {
    let about = |size: f64| rounded(size.round(), Some(size / 10.0));
    let finding = |growth: &Growth| {
        let mut text = name(growth);
        text += &growth.exponent.map(|exponent| format!(": n^{exponent:.1}")).unwrap_or_default();
        text += &growth.bend.map(|bend| format!(" from {} on", about(bend))).unwrap_or_default();
        if let Some(second) = growth.one_second {
            text += &format!("; a second at {}", sized(&growth.key.suite, &about(second.size)));
        }
        plain(FindingKind::Cliff, text)
    };
    let is_cliff = |grade: Grade| matches!(grade, Grade::Superlinear | Grade::QuadraticOrWorse);
    steepest_first(growth, is_cliff).into_iter().map(finding).collect()
}

/// One sentence for the series that grow softly, one for those that are linear, and one for those
/// that were planned at enough sizes and have no grade.
pub fn others(growth: &[Growth], rows: &[Row]) -> Vec<Finding> {
    let mut texts = Vec::new();
    let soft = steepest_first(growth, |grade| grade == Grade::SoftGrowth);
    if let Some(most) = soft.first().and_then(|growth| growth.exponent) {
        let one = |growth: &&Growth| match growth.exponent {
            Some(exponent) => format!("{} n^{exponent:.2}", name(growth)),
            None => name(growth),
        };
        let up_to = if soft.len() > 1 { "up to " } else { "" };
        let names = listed(&soft.iter().map(one).collect::<Vec<_>>());
        let tenfold = rounded(10f64.powf(most), Some(1.0));
        let tasks = if is_free(&soft[0].key.suite) { "n" } else { "tasks" };
        texts.push(format!("{names}: ten times the {tasks} cost {up_to}{tenfold} times as much"));
    }
    let linear: Vec<&Growth> = growth.iter().filter(|growth| growth.grade == Grade::Linear).collect();
    let sizes = || linear.iter().flat_map(|growth| &growth.sizes);
    if let (Some(least), Some(most)) = (sizes().min(), sizes().max()) {
        let who = match (linear.as_slice(), growth.len()) {
            ([one], _) => format!("{} is", name(one)),
            (all, n) if all.len() == n => format!("all {} ways are", count(n as u64)),
            (some, n) => format!("{} of {} ways are", count(some.len() as u64), count(n as u64)),
        };
        let range = sized(&linear[0].key.suite, &format!("{} to {}", count(*least), count(*most)));
        texts.push(format!("{who} linear from {range}"));
    }
    let planned = |growth: &Growth| {
        let mut sizes: Vec<u64> =
            rows.iter().filter(|row| row.key.series == growth.key).map(|row| row.key.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.len()
    };
    let open: Vec<&Growth> = growth
        .iter()
        .filter(|growth| growth.grade == Grade::CannotTell && planned(growth) >= MIN_SIZES)
        .collect();
    if let Some(reason) = open.iter().find_map(|growth| growth.reason.as_deref()) {
        let names = listed(&open.iter().map(|growth| name(growth)).collect::<Vec<_>>());
        texts.push(format!("cannot tell for {names}: {reason}"));
    }
    texts.into_iter().map(|text| plain(FindingKind::Growth, text)).collect()
}

fn steepest_first(growth: &[Growth], wanted: impl Fn(Grade) -> bool) -> Vec<&Growth> {
    let mut found: Vec<&Growth> = growth.iter().filter(|growth| wanted(growth.grade)).collect();
    found.sort_by(|a, b| b.exponent.unwrap_or(0.0).total_cmp(&a.exponent.unwrap_or(0.0)));
    found
}

fn name(growth: &Growth) -> String {
    format!("{} {}", growth.key.runtime, growth.key.variant_and_case())
}

#[cfg(test)]
mod tests {
    use taskscale_model::{key::SeriesKey, suite::FREE, summary::OneSecond};

    use super::*;

    fn of(variant: &str, grade: Grade, exponent: f64) -> Growth {
        let key = SeriesKey { runtime: "asyncio".into(), variant: variant.into(), ..SeriesKey::default() };
        Growth {
            key,
            sizes: vec![64, 512],
            exponent: Some(exponent),
            exponent_ci: None,
            steps: Vec::new(),
            grade,
            bend: None,
            bend_ci: None,
            one_second: None,
            cause: None,
            growth_control: None,
            reason: None,
        }
    }

    fn said(growth: &[Growth]) -> Vec<String> {
        others(growth, &[]).into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn the_steepest_soft_growth_comes_first_with_what_ten_times_the_tasks_cost() {
        let soft = |variant, exponent| of(variant, Grade::SoftGrowth, exponent);
        assert_eq!(
            said(&[soft("gather", 1.12), soft("TaskGroup", 1.32), of("wait", Grade::Linear, 1.0)]),
            [
                "asyncio TaskGroup n^1.32, asyncio gather n^1.12: ten times the tasks cost up to 21 times as much",
                "asyncio wait is linear from 64 to 512 tasks"
            ]
        );
        assert_eq!(
            said(&[soft("gather", 1.12)]),
            ["asyncio gather n^1.12: ten times the tasks cost 13 times as much"]
        );
    }

    #[test]
    fn what_a_size_means_is_not_said_where_no_suite_says_it() {
        let free = |grade, exponent| {
            let mut growth = of("nested", grade, exponent);
            growth.key.suite = FREE.into();
            growth
        };
        let both = [free(Grade::SoftGrowth, 1.12), free(Grade::Linear, 1.0)];
        assert_eq!(
            said(&both),
            [
                "asyncio nested n^1.12: ten times the n cost 13 times as much",
                "asyncio nested is linear from n = 64 to 512"
            ]
        );
        let mut steep = free(Grade::QuadraticOrWorse, 2.0);
        steep.one_second =
            Some(OneSecond { size: 6_100.0, low: 6_000.0, high: None, exponent: 2.0, measured: false });
        assert_eq!(cliffs(&[steep])[0].text, "asyncio nested: n^2.0; a second at n = 6,100");
    }

    #[test]
    fn what_was_planned_at_too_few_sizes_for_a_grade_is_not_told() {
        let linear = [of("gather", Grade::Linear, 1.0), of("wait", Grade::Linear, 0.9)];
        assert_eq!(said(&linear), ["all 2 ways are linear from 64 to 512 tasks"]);
        let open = Growth { reason: Some("too few".into()), ..of("TaskGroup", Grade::CannotTell, 1.0) };
        assert_eq!(said(&[open]), [""; 0]);
    }
}
