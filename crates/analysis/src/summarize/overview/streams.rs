//! How many bytes a second each way of reading a stream consumes.

use taskscale_model::{
    bytes::{MIB, MODE, NONE},
    metric::Count,
    params::ParamValue,
    run_file::{Role, Time},
    suite::{Block, Claim, ClaimOf, Contrast, StreamOf},
    summary::{Contrasted, Distribution, Interval, Row, Stream, Streams},
};
use taskscale_stats::quantile::{median, sorted};

use super::{
    super::samples::RowSamples,
    rank::{Cost, cost, ratio},
    shares::{held_to, judged},
};
use crate::read::Run;

/// The block of a suite that a row's table comes from, if that is a stream.
pub fn block<'r>(run: &'r Run, one: &RowSamples<'_>) -> Option<(&'r Block, &'r StreamOf)> {
    let block = run.block(&one.row.key)?;
    block.stream.as_ref().map(|stream| (block, stream))
}

/// All tables that are streams, at each of their sizes. `rows` are those of `samples`. O(rows).
pub fn of(run: &Run, samples: &[RowSamples<'_>], rows: &[Row]) -> Vec<Streams> {
    let mut groups: Vec<Vec<Measured<'_>>> = Vec::new();
    for (one, row) in samples.iter().zip(rows) {
        let is_row = one.is_ok() && one.row.role != Role::Control && block(run, one).is_some();
        let Some((cost, row)) = cost(one, Time::Cpu).zip(Some(row)).filter(|_| is_row) else { continue };
        let place = |one: &Measured<'_>| {
            let key = &one.cost.samples.row.key;
            (key.suite.clone(), key.table.clone(), key.size)
        };
        let measured = Measured { cost, row };
        match groups.iter_mut().find(|group| place(&group[0]) == place(&measured)) {
            Some(group) => group.push(measured),
            None => groups.push(vec![measured]),
        }
    }
    groups.iter().filter_map(|group| table(run, group)).collect()
}

/// A row that has figures.
struct Measured<'a> {
    cost: Cost<'a>,
    row: &'a Row,
}

impl Measured<'_> {
    /// Whether its bytes are fetched and not looked at.
    fn is_bare(&self) -> bool {
        self.row.key.params.get(MODE) == Some(&ParamValue::Word(NONE.into()))
    }

    /// The variant with its case, without the mode of floors: a heading says that.
    fn name(&self) -> String {
        let mut series = self.row.key.series.clone();
        if self.is_bare() {
            series.case.remove(MODE);
        }
        series.variant_and_case()
    }

    fn is_floor(&self, stream: &StreamOf) -> bool {
        let key = &self.row.key;
        !self.is_bare() && stream.is_floor(&key.runtime, &key.variant)
    }
}

fn table(run: &Run, group: &[Measured<'_>]) -> Option<Streams> {
    let (block, stream) = block(run, group[0].cost.samples)?;
    let key = &group[0].row.key;
    let floor = group
        .iter()
        .filter(|one| one.is_floor(stream) && one.cost.ns > 0.0)
        .min_by(|a, b| a.cost.ns.total_cmp(&b.cost.ns));
    let mut measured: Vec<&Measured<'_>> = group.iter().collect();
    measured.sort_by(|a, b| b.is_bare().cmp(&a.is_bare()).then(a.cost.ns.total_cmp(&b.cost.ns)));
    let rows = measured.into_iter().filter_map(|one| row(one, floor, stream));
    let costs: Vec<Cost<'_>> = group.iter().map(|one| one.cost).filter(|cost| cost.ns > 0.0).collect();
    let contrasts = stream.contrasts.iter().filter_map(|contrast| contrasted(contrast, &costs));
    // What is claimed of a runtime that nobody asked about is no line.
    let is_here = |runtime: &str| costs.iter().any(|cost| cost.samples.row.key.runtime == runtime);
    let claims = block.claims.iter().filter(|claim| is_here(&claim.runtime));
    Some(Streams {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: key.size,
        rows: rows.collect(),
        floor: floor.map(|floor| floor.row.key.full_name()),
        published_on: stream.published_on.clone(),
        contrasts: contrasts.collect(),
        server_mib_ns: server(group),
        claims: claims
            .map(|claim| match claim.of {
                ClaimOf::Peak => held_to(claim, peaks(claim, group)),
                _ => judged(claim, &costs),
            })
            .collect(),
    })
}

/// The peak memory of the first variant as a share of the other's, and the shares that the
/// processes of both allow.
fn peaks(claim: &Claim, group: &[Measured<'_>]) -> Option<(f64, Option<Interval>)> {
    let of = |variant: &str| {
        let is_it = |one: &&Measured<'_>| {
            one.row.key.runtime == claim.runtime && one.row.key.variant_and_case() == variant
        };
        group.iter().find(is_it)?.row.figures()?.counts.get(&Count::PeakResident)?.value()
    };
    let (one, other) = (of(&claim.variant)?, of(&claim.than).filter(|other| other.least > 0.0)?);
    let range = Interval(100.0 * one.least / other.most, 100.0 * one.most / other.least);
    Some((100.0 * one.median / other.median, (one.processes.min(other.processes) > 1).then_some(range)))
}

fn row(one: &Measured<'_>, floor: Option<&Measured<'_>>, stream: &StreamOf) -> Option<Stream> {
    let (key, figures) = (&one.row.key, one.row.figures()?);
    let beside = floor.filter(|_| !one.is_bare()).map(|floor| {
        let is_floor = floor.cost.samples.row.row == one.cost.samples.row.row;
        if is_floor { (Some(1.0), None) } else { ratio(&one.cost, &floor.cost, Time::Cpu) }
    });
    let (times_floor, times_floor_ci) = beside.unwrap_or_default();
    let size = key.size as f64;
    let per_s = |bytes: f64, ns: f64| (ns > 0.0).then(|| bytes / MIB / ns * 1e9);
    let published = stream.published.get(&key.full_name()).filter(|_| key.case.is_empty());
    Some(Stream {
        runtime: key.runtime.clone(),
        variant: one.name(),
        is_bare: one.is_bare(),
        cpu_mib_s: per_s(1.0, figures.cpu.of.p50),
        wall_mib_s: per_s(1.0, figures.wall.of.p50),
        times_floor,
        times_floor_ci,
        cpu: times(figures.cpu.of, size),
        wall: times(figures.wall.of, size),
        published_cpu_mib_s: published.and_then(|pass| per_s(pass.bytes as f64, pass.cpu_ms * 1e6)),
        published_wall_mib_s: published.and_then(|pass| per_s(pass.bytes as f64, pass.wall_ms * 1e6)),
    })
}

/// A distribution of something that is `factor` times as large.
fn times(of: Distribution, factor: f64) -> Distribution {
    let Distribution { n, p0, p25, p50, p75, p90, p99, p100, ci, pooled } = of;
    let [p0, p25, p50, p75, p90, p99, p100] = [p0, p25, p50, p75, p90, p99, p100].map(|value| value * factor);
    let ci = ci.map(|Interval(low, high)| Interval(low * factor, high * factor));
    Distribution { n, p0, p25, p50, p75, p90, p99, p100, ci, pooled }
}

/// How many times the throughput of the other the one has.
fn contrasted(contrast: &Contrast, costs: &[Cost<'_>]) -> Option<Contrasted> {
    let find = |variant: &str| {
        costs.iter().find(|cost| {
            let key = &cost.samples.row.key;
            key.runtime == contrast.runtime && key.variant_and_case() == variant
        })
    };
    // The time of the other divided by that of the one is the throughput of the one over that of
    // the other.
    let (times, ci) = ratio(find(&contrast.other)?, find(&contrast.one)?, Time::Cpu);
    Some(Contrasted {
        name: contrast.name.clone(),
        runtime: contrast.runtime.clone(),
        one: contrast.one.clone(),
        other: contrast.other.clone(),
        times: times?,
        ci,
    })
}

/// CPU time of the server for each MiB that it gave: the median over all timed samples.
fn server(group: &[Measured<'_>]) -> Option<f64> {
    let samples = group.iter().flat_map(|one| &one.cost.samples.timed);
    let each = samples.filter_map(|sample| {
        let given = sample.size as f64 * sample.iterations as f64 / MIB;
        Some(sample.server_cpu_ns? as f64 / given)
    });
    median(&sorted(&each.collect::<Vec<_>>()))
}
