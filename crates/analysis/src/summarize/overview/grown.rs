//! How cost grows with the number of tasks, in sentences: cliffs, soft growth, what is linear, and
//! what has no grade.

use taskscale_model::{
    figure::{count, rounded},
    run_file::Time,
    suite::{is_free, sized},
    summary::{Cause, Check, Finding, FindingKind, Grade, Growth, Row},
};
use taskscale_stats::growth::MIN_SIZES;

use super::findings::{listed, plain};
use crate::grouped;

/// Cliffs with a lower exponent may be the end of caches: inserting into a `std::set`, n log n
/// steps, grew as n^1.64 to n^1.69 up to 262,144 elements, where it outgrew 32 MB of cache.
const BY_CACHES: f64 = 1.75;

/// Series whose cost grows, the steepest first, and how bytes grow where they are a cliff.
pub fn cliffs(growth: &[Growth]) -> Vec<Finding> {
    let about = |size: f64| rounded(size.round(), Some(size / 10.0));
    let finding = |growth: &Growth| {
        // Growth without a grade has no exponent that should be read.
        let exponent = growth.exponent.filter(|_| growth.grade != Grade::CannotTell);
        let from = growth.bend.map(|bend| format!(" from {} on", about(bend))).unwrap_or_default();
        let second = growth.one_second.map(|second| sized(&growth.key.suite, &about(second.size)));
        let bytes = growth.bytes.as_ref().filter(|bytes| bytes.is_cliff);
        let parts = [
            exponent.map(|exponent| format!("n^{exponent:.1}{from}{}", in_time(growth))),
            second.map(|second| format!("a second at {second}")),
            bytes.map(|bytes| format!("bytes grow as n^{:.2}", bytes.exponent)),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let text = format!("{}: {}", name(growth), parts.join("; "));
        let remedy = match &growth.check {
            Some(check) => format!("to tell a collector from a cliff: {}", again(check)),
            None if bytes.is_none() && exponent.is_some_and(|exponent| exponent < BY_CACHES) => {
                "memory that outgrows the caches can look so; larger sizes tell (--size)".to_owned()
            }
            None => String::new(),
        };
        Finding { kind: FindingKind::Cliff, text, remedy }
    };
    steepest_first(growth, Growth::is_cliff).into_iter().map(finding).collect()
}

/// What the command is repeated with, in few words.
fn again(check: &Check) -> String {
    let words = [&*check.before, &*check.behind];
    words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" and ")
}

/// A sentence for the series of each runtime whose growth is the collector's.
fn of_collectors(growth: &[Growth]) -> Vec<Finding> {
    let by_collector = |growth: &Growth| growth.cause == Some(Cause::Collector);
    let of_runtime = |growth: &&Growth| growth.key.runtime.clone();
    let finding = |of_one: Vec<&Growth>| {
        let one = |growth: &&Growth| with_exponent(growth);
        let bytes = of_one.iter().filter_map(|growth| Some(growth.bytes.as_ref()?.exponent));
        let most = bytes.fold(0.0, f64::max);
        let up_to = if of_one.len() > 1 { " at most" } else { "" };
        let names = listed(&of_one.iter().map(one).collect::<Vec<_>>());
        let check = of_one.first().and_then(|growth| growth.check.as_ref());
        Finding {
            kind: FindingKind::Growth,
            text: format!("{names}: the collector, no cliff: bytes grow as n^{most:.2}{up_to}"),
            remedy: check.map(|check| format!("check: the same with {}", again(check))).unwrap_or_default(),
        }
    };
    grouped(steepest_first(growth, by_collector), of_runtime).into_iter().map(finding).collect()
}

/// One sentence for the series that grow softly, one for those that are linear, one for those that
/// were planned at enough sizes and have no grade, and one for those that were planned at two or
/// three in a table that `asks` how cost grows.
pub fn others(growth: &[Growth], rows: &[Row], asks: impl Fn(&Growth) -> bool) -> Vec<Finding> {
    let mut texts = Vec::new();
    let is_soft = |growth: &Growth| {
        growth.grade == Grade::SoftGrowth && growth.cause != Some(Cause::Collector) && !growth.is_cliff()
    };
    let soft = steepest_first(growth, is_soft);
    if let Some(most) = soft.first().and_then(|growth| growth.exponent) {
        let one = |growth: &&Growth| with_exponent(growth);
        let up_to = if soft.len() > 1 { "up to " } else { "" };
        let names = listed(&soft.iter().map(one).collect::<Vec<_>>());
        let tenfold = rounded(10f64.powf(most), Some(1.0));
        let tasks = if is_free(&soft[0].key.suite) { "n" } else { "tasks" };
        texts.push(format!("{names}: ten times the {tasks} cost {up_to}{tenfold} times as much"));
    }
    let is_linear = |growth: &&Growth| growth.grade == Grade::Linear && !growth.is_cliff();
    let linear: Vec<&Growth> = growth.iter().filter(is_linear).collect();
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
        .filter(|growth| {
            growth.grade == Grade::CannotTell && !growth.is_cliff() && planned(growth) >= MIN_SIZES
        })
        .collect();
    if let Some(reason) = open.iter().find_map(|growth| growth.reason.as_deref()) {
        let names = listed(&open.iter().map(|growth| name(growth)).collect::<Vec<_>>());
        texts.push(format!("cannot tell for {names}: {reason}"));
    }
    let texts = texts.into_iter().map(|text| plain(FindingKind::Growth, text));
    of_collectors(growth).into_iter().chain(texts).chain(of_few_sizes(growth, planned, asks)).collect()
}

/// That series at two or three sizes have no grade, and how they come to one. One size asks nothing
/// about growth.
fn of_few_sizes(
    growth: &[Growth],
    planned: impl Fn(&Growth) -> usize,
    asks: impl Fn(&Growth) -> bool,
) -> Option<Finding> {
    let few = |growth: &Growth| {
        let sizes = planned(growth);
        let is_open = growth.grade == Grade::CannotTell && !growth.is_cliff() && asks(growth);
        (is_open && (2..MIN_SIZES).contains(&sizes)).then(|| (growth.key.table.clone(), sizes))
    };
    let all: Vec<(String, usize)> = growth.iter().filter_map(few).collect();
    let least = all.iter().map(|(_, sizes)| *sizes).min()?;
    let most = all.iter().map(|(_, sizes)| *sizes).max()?;
    let sizes = if least == most { least.to_string() } else { format!("{least} or {most}") };
    let tables = grouped(all.iter().map(|(table, _)| table.clone()), String::clone);
    let tables: Vec<String> = tables.into_iter().filter_map(|same| same.into_iter().next()).collect();
    // A table that has its grade is no part of it.
    let of = if all.len() == growth.len() { String::new() } else { format!("{}: ", listed(&tables)) };
    Some(Finding {
        kind: FindingKind::Growth,
        text: format!("{of}no grade at {sizes} sizes: it takes {MIN_SIZES}"),
        remedy: "--grade, or more of --size".into(),
    })
}

fn steepest_first(growth: &[Growth], wanted: impl Fn(&Growth) -> bool) -> Vec<&Growth> {
    let mut found: Vec<&Growth> = growth.iter().filter(|growth| wanted(growth)).collect();
    found.sort_by(|a, b| b.exponent.unwrap_or(0.0).total_cmp(&a.exponent.unwrap_or(0.0)));
    found
}

fn with_exponent(growth: &Growth) -> String {
    match growth.exponent {
        Some(exponent) => format!("{} n^{exponent:.2}{}", name(growth), in_time(growth)),
        None => name(growth),
    }
}

/// What grows so, where that is not CPU time.
fn in_time(growth: &Growth) -> &'static str {
    match growth.time {
        Time::Cpu => "",
        Time::Wall => " in wall time (it waits)",
    }
}

fn name(growth: &Growth) -> String {
    format!("{} {}", growth.key.runtime, growth.key.variant_and_case())
}

#[cfg(test)]
mod tests {
    use taskscale_model::{
        key::{RowKey, SeriesKey},
        missing::Missing,
        run_file::Role,
        suite::FREE,
        summary::{BytesGrowth, OneSecond, RowState},
    };

    use super::*;

    fn of(variant: &str, grade: Grade, exponent: f64) -> Growth {
        let key = SeriesKey { runtime: "asyncio".into(), variant: variant.into(), ..SeriesKey::default() };
        Growth {
            key,
            sizes: vec![64, 512],
            exponent: Some(exponent),
            exponent_ci: None,
            time: Time::Cpu,
            steps: Vec::new(),
            grade,
            bend: None,
            bend_ci: None,
            one_second: None,
            cause: None,
            growth_control: None,
            bytes: None,
            check: None,
            reason: None,
        }
    }

    fn said(growth: &[Growth]) -> Vec<String> {
        others(growth, &[], |_| true).into_iter().map(|finding| finding.text).collect()
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
    fn growth_of_the_collector_is_no_cliff_and_growth_of_bytes_is_one() {
        let bytes = |exponent, is_cliff| {
            let (sizes, range, collections) = (vec![64, 512], None, Some(1.0));
            Some(BytesGrowth { sizes, exponent, range, collections, is_cliff })
        };
        let before = "DOTNET_GCgen0size=0x40000000".to_owned();
        let check = Some(Check { before, behind: String::new() });
        let tree = Growth {
            cause: Some(Cause::Collector),
            bytes: bytes(1.0, false),
            check,
            ..of("tree", Grade::SoftGrowth, 1.58)
        };
        let chain = Growth { exponent: Some(1.31), bytes: bytes(1.02, false), check: None, ..tree.clone() };
        let found = others(&[chain.clone(), tree.clone()], &[], |_| true);
        assert_eq!(
            (&*found[0].text, &*found[0].remedy),
            (
                "asyncio tree n^1.58, asyncio tree n^1.31: the collector, no cliff: bytes grow as n^1.02 at most",
                "check: the same with DOTNET_GCgen0size=0x40000000"
            )
        );
        assert!(found.len() == 1 && cliffs(&[chain, tree]).is_empty());
        let throws = Growth { bytes: bytes(1.99, true), ..of("throw", Grade::SoftGrowth, 1.2) };
        assert_eq!(
            cliffs(std::slice::from_ref(&throws))[0].text,
            "asyncio throw: n^1.2; bytes grow as n^1.99"
        );
        assert!(others(&[throws], &[], |_| true).is_empty());
        let behind = "--metrics bytes,gc".to_owned();
        let steep = Growth {
            check: Some(Check { before: String::new(), behind }),
            ..of("wait", Grade::Superlinear, 1.5)
        };
        assert_eq!(cliffs(&[steep])[0].remedy, "to tell a collector from a cliff: --metrics bytes,gc");
    }

    /// The rows of these series, each at so many sizes.
    fn rows(growth: &[Growth], sizes: u64) -> Vec<Row> {
        let each = growth.iter().flat_map(|growth| (1..=sizes).map(|size| (growth.key.clone(), size)));
        let row = |(series, size)| Row {
            key: RowKey { series, size },
            creates_task: None,
            role: Role::Row,
            sweep: None,
            baseline: None,
            state: RowState::Skipped(Missing::new("", "")),
        };
        each.map(row).collect()
    }

    #[test]
    fn a_cliff_that_caches_could_explain_says_what_tells() {
        let remedy = |exponent| cliffs(&[of("wait", Grade::Superlinear, exponent)])[0].remedy.clone();
        assert_eq!(remedy(1.66), "memory that outgrows the caches can look so; larger sizes tell (--size)");
        assert_eq!(remedy(1.8), "");
    }

    #[test]
    fn two_or_three_sizes_say_what_a_grade_takes_and_one_says_nothing() {
        let open = |table: &str| {
            let mut open =
                Growth { reason: Some("too few".into()), ..of("TaskGroup", Grade::CannotTell, 1.0) };
            open.key.table = table.into();
            open
        };
        let told = |growth: &[Growth], sizes: &[u64]| -> Vec<String> {
            let of_one = growth.iter().zip(sizes);
            let rows: Vec<Row> =
                of_one.flat_map(|(growth, sizes)| rows(std::slice::from_ref(growth), *sizes)).collect();
            others(growth, &rows, |_| true)
                .into_iter()
                .map(|one| format!("{}; {}", one.text, one.remedy))
                .collect()
        };
        let how = "--grade, or more of --size";
        let two = [open("one"), open("other")];
        assert_eq!(told(&two, &[2, 2]), [format!("no grade at 2 sizes: it takes 4; {how}")]);
        assert_eq!(told(&two, &[2, 3]), [format!("no grade at 2 or 3 sizes: it takes 4; {how}")]);
        assert_eq!(told(&two, &[1, 3]), [format!("other: no grade at 3 sizes: it takes 4; {how}")]);
        assert_eq!(told(&two, &[1, 1]), [""; 0]);
        assert_eq!(others(&two, &rows(&two, 2), |_| false), [], "their tables ask something else");
        assert_eq!(told(&two[..1], &[4]), ["cannot tell for asyncio TaskGroup: too few; "]);
        let graded = [of("gather", Grade::Linear, 1.0), open("other")];
        assert_eq!(
            told(&graded, &[4, 2]),
            [
                "asyncio gather is linear from 64 to 512 tasks; ".to_owned(),
                format!("other: no grade at 2 sizes: it takes 4; {how}")
            ]
        );
    }
}
