//! Whether growth is the collector's, by what the rows of a series allocate.

use taskscale_model::{
    metric::Count,
    run_file::{RowRecord, RuntimeState, Time},
    summary::{BytesGrowth, Check, Interval},
};
use taskscale_stats::{
    growth::{self, ByBytes, Growth, SizeCost},
    quantile::median,
};

use super::{counts::Counts, samples::RowSamples};
use crate::read::Run;

/// What makes the young generation larger, for each language whose runtime has a tracing collector:
/// 1 GiB in .NET and OCaml, 2 GiB in Node, 4 GiB in Java. Only what is used becomes memory. Go has
/// no young generation, and collects when the heap comes to 4 GiB. Python's cannot be set from
/// outside.
const LARGER_YOUNG: [(&str, &str); 7] = [
    ("csharp", "DOTNET_GCgen0size=0x40000000"),
    ("fsharp", "DOTNET_GCgen0size=0x40000000"),
    ("go", "GOGC=off GOMEMLIMIT=4GiB"),
    ("java", "JAVA_TOOL_OPTIONS='-Xms5g -Xmx5g -Xmn4g'"),
    ("javascript", "NODE_OPTIONS=--max-semi-space-size=2048"),
    ("ocaml", "OCAMLRUNPARAM=s=128M"),
    ("python", ""),
];

/// What tells the collector's part of growth.
const COUNTED: &str = "--metrics bytes,gc";

/// What bytes tell of the growth of one series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    pub bytes: Option<BytesGrowth>,
    /// What they say of the growth of CPU time.
    pub by_bytes: Option<ByBytes>,
    /// What would tell more.
    pub check: Option<Check>,
}

/// What the counted rows of `group`, a series whose CPU time grows as in `found`, tell.
pub fn of(run: &Run, counts: &Counts<'_>, group: &[&RowSamples<'_>], found: &Growth) -> Told {
    let bytes = bytes(counts, group, found);
    let collections = bytes.as_ref().and_then(|bytes| collections(counts, group, *bytes.sizes.last()?));
    let by_bytes = bytes
        .as_ref()
        .and_then(|bytes| growth::by_bytes(found, bytes, collections, beyond_ns(group, &bytes.sizes)));
    let may_be_collected = matches!(by_bytes, Some(ByBytes::Collector | ByBytes::Either { .. }));
    let larger_young = group.first().and_then(|one| larger_young(run, one.row));
    // A grade that a collector could have is worth the counts.
    let is_counted = group.iter().any(|one| {
        counts.get(one.row.row, Count::Bytes).is_some()
            && counts.get(one.row.row, Count::Collections).is_some()
    });
    let check = larger_young.and_then(|before| match may_be_collected {
        true if before.is_empty() => None,
        true => Some(Check { before: before.to_owned(), behind: String::new() }),
        false => (found.may_be_collector() && !is_counted)
            .then(|| Check { before: String::new(), behind: COUNTED.to_owned() }),
    });
    let bytes = bytes.map(|bytes| BytesGrowth {
        sizes: bytes.sizes,
        exponent: bytes.exponent,
        range: bytes.range.map(|(low, high)| Interval(low, high)),
        collections,
        is_cliff: by_bytes == Some(ByBytes::CliffInBytes),
    });
    Told { bytes, by_bytes, check }
}

/// The growth of the bytes of an iteration over the last three octaves of CPU time.
fn bytes(counts: &Counts<'_>, group: &[&RowSamples<'_>], found: &Growth) -> Option<growth::Bytes> {
    let of_row = |one: &&RowSamples<'_>| {
        let counted = counts.get(one.row.row, Count::Bytes)?.ok()?;
        let size = one.row.key.size;
        let totals = counted.of_processes.iter().map(|bytes| bytes * size as f64).collect();
        Some((size, totals))
    };
    let totals: Vec<(u64, Vec<f64>)> = group.iter().filter(|one| one.is_ok()).filter_map(of_row).collect();
    let counted: Vec<SizeCost<'_>> =
        totals.iter().map(|(size, totals)| SizeCost { size: *size, totals }).collect();
    growth::bytes(&counted, &found.tail.as_ref()?.sizes)
}

/// The CPU time of an iteration at the largest of these sizes beyond what that of the smallest one
/// is in proportion, in nanoseconds; zero where it is not known.
fn beyond_ns(group: &[&RowSamples<'_>], sizes: &[u64]) -> f64 {
    let of_size = |size: &u64| {
        let one = group.iter().find(|one| one.row.key.size == *size)?;
        let totals: Vec<f64> = one.timed.iter().map(|sample| sample.per_iteration(Time::Cpu)).collect();
        Some((*size as f64, median(&totals)?))
    };
    let ends = sizes.first().and_then(of_size).zip(sizes.last().and_then(of_size));
    ends.map_or(0.0, |((first, first_ns), (last, last_ns))| last_ns - first_ns * last / first)
}

/// Collections in one iteration at a size; `None` where they are not counted.
fn collections(counts: &Counts<'_>, group: &[&RowSamples<'_>], size: u64) -> Option<f64> {
    let one = group.iter().find(|one| one.row.key.size == size)?;
    counts.on_average(one.row.row, Count::Collections)
}

/// What makes the young generation of a row's runtime larger; `None` where it has no tracing
/// collector.
fn larger_young(run: &Run, row: &RowRecord) -> Option<&'static str> {
    let runtime = run.runtimes.iter().find(|runtime| runtime.id == row.key.runtime)?;
    let RuntimeState::Ready { runtime, .. } = &runtime.state else { return None };
    LARGER_YOUNG.iter().find(|(language, _)| *language == runtime.language).map(|(_, words)| *words)
}
