//! Tables that answer another question than "which is cheapest": shares of a base, latencies, how
//! far variants come, how throughput grows with workers, what one thing costs under several
//! settings, what waiting tasks hold, what ready ones wait, how many bytes a second are read, how
//! rates stand to published ones, and what a task's cost consists of. Their cells, for whoever
//! draws tables.

use taskscale_model::{
    blocking::INLINE,
    figure::{count, time},
    missing::Reading,
    summary::{
        Across, Judged, Latencies, Rates, Reaches, Residents, Scales, Shares, Splits, Streams, Summary, Waits,
    },
};

use crate::{
    across, latencies, rates, reaches, residents, scales, scales::laws, shares, splits, streams,
    style::clean, waits,
};

/// A table whose first two columns are runtime and variant.
pub struct Asked {
    pub heading: String,
    /// The names of the columns behind these two, and whether they hold figures.
    pub head: Vec<(String, bool)>,
    /// The cells of each row, with those two.
    pub rows: Vec<Vec<String>>,
}

/// All such tables, in the order of the plan within each kind.
pub fn tables(summary: &Summary) -> Vec<Asked> {
    let overview = &summary.overview;
    let shares = overview.shares.iter().map(of_shares);
    shares
        .chain(overview.latencies.iter().map(of_latencies))
        .chain(overview.reaches.iter().map(of_reaches))
        .chain(overview.scales.iter().map(of_scales))
        .chain(overview.across.iter().map(of_across))
        .chain(overview.scales.iter().flat_map(|table| [Some(of_scales(table)), of_laws(table)]).flatten())
        .chain(overview.residents.iter().map(of_residents))
        .chain(overview.waits.iter().map(of_waits))
        .chain(overview.streams.iter().flat_map(|table| [of_streams(table), of_passes(table)]))
        .chain(overview.rates.iter().map(of_rates))
        .chain(overview.splits.iter().map(of_splits))
        .collect()
}

/// Each claim with its verdict.
pub fn claims(summary: &Summary) -> Vec<String> {
    judged(summary).map(|claim| format!("{}: {}", claim.verdict.word(), shares::claimed(claim))).collect()
}

/// All claims, with what they were held to.
pub fn judged(summary: &Summary) -> impl Iterator<Item = &Judged> {
    let of_shares = summary.overview.shares.iter().flat_map(|table| &table.claims);
    let of_rates = summary.overview.rates.iter().flat_map(|table| &table.claims);
    of_shares.chain(summary.overview.streams.iter().flat_map(|table| &table.claims)).chain(of_rates)
}

fn figures<const N: usize>(names: [&str; N]) -> Vec<(String, bool)> {
    names.map(|name| (name.to_owned(), true)).into()
}

fn of_shares(table: &Shares) -> Asked {
    let loaded = shares::is_loaded(table);
    let mut head = figures(["% of base [95 %]"]);
    head.push((format!("a {}", clean(&table.unit)), true));
    if loaded {
        head.extend(figures(["without constant", "req/s"]));
    }
    let published = table.rows.iter().any(|row| row.published.is_some());
    if published {
        head.extend(figures(["published"]));
    }
    let cells = |row| {
        let row: &taskscale_model::summary::Share = row;
        let mut cells =
            vec![clean(&row.runtime), clean(&row.variant), shares::figure(row), shares::cost(row)];
        if loaded {
            cells.extend([shares::without(row), shares::per_s(row)]);
        }
        if published {
            cells.push(row.published.map(|percent| format!("{percent} %")).unwrap_or_default());
        }
        cells
    };
    let rows = table.rows.iter().chain(&table.subtracted).map(cells).collect();
    Asked { heading: shares::what(table, usize::MAX), head, rows }
}

fn of_latencies(table: &Latencies) -> Asked {
    let names = ["rate", "req/s", "p50", "p90", "p99", "p99.9", "max", "requests", "waiting at the end"];
    let rows = table.rows.iter().map(|row| {
        let cell = |ns: Option<f64>| ns.map_or("-".to_owned(), time);
        vec![
            clean(&row.runtime),
            clean(&row.variant),
            format!("{} %", row.rate),
            rates::per_s(row.achieved_per_s),
            time(row.p50),
            time(row.p90),
            cell(row.p99),
            cell(row.p999),
            time(row.max),
            count(row.n),
            count(row.waiting),
        ]
    });
    Asked { heading: latencies::what(table, usize::MAX), head: figures(names), rows: rows.collect() }
}

fn of_reaches(table: &Reaches) -> Asked {
    let rows = table
        .rows
        .iter()
        .map(|row| vec![clean(&row.runtime), clean(&row.variant), reaches::passes(row), reaches::end(row)]);
    let head = vec![("answers".to_owned(), true), ("ends".to_owned(), false)];
    Asked { heading: reaches::what(table, usize::MAX), head, rows: rows.collect() }
}

fn of_scales(table: &Scales) -> Asked {
    let unit = clean(&table.unit);
    let names = [
        clean(&table.param),
        "in all".to_owned(),
        format!("times those of {} [95 %]", scales::base(table)),
        "efficiency".to_owned(),
        "each worker".to_owned(),
        "share of a worker".to_owned(),
        format!("CPU a {unit}"),
    ];
    let rows = table.rows.iter().map(|row| {
        vec![
            clean(&row.runtime),
            clean(&row.variant),
            count(row.workers),
            rates::per_s(row.per_s),
            scales::times(row),
            scales::efficiency(row),
            scales::each(row),
            scales::share(row),
            scales::cpu(row),
        ]
    });
    let head = names.into_iter().map(|name| (name, true)).collect();
    Asked { heading: scales::what(table, usize::MAX), head, rows: rows.collect() }
}

fn of_across(table: &Across) -> Asked {
    let names = table.columns.iter().map(|name| clean(name));
    let one = across::one(table);
    let head = names.flat_map(|name| match across::is_of_core(table) {
        true => [format!("{name}: of a core [95 %]"), format!("{name}: {one}")],
        false => [format!("{name}: CPU [95 %]"), format!("{name}: wall")],
    });
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![clean(&row.runtime), clean(&row.variant)];
        cells.extend(row.cells.iter().enumerate().flat_map(|(at, cell)| match cell {
            Some(cell) => match across::each_ns(table, at, cell) {
                Some(each_ns) => [across::of_core(cell), time(each_ns)],
                None => [across::cpu(cell), time(cell.wall_ns)],
            },
            None => ["-".to_owned(), "-".to_owned()],
        }));
        cells
    });
    let said = std::iter::once(across::what(table, usize::MAX)).chain(across::sentences(table));
    let heading = said.collect::<Vec<_>>().join("; ");
    Asked { heading, head: head.map(|name| (name, true)).collect(), rows: rows.collect() }
}

/// The law of each series of a table, where the suite asks for it.
fn of_laws(table: &Scales) -> Option<Asked> {
    let names = ["contention [95 %]", "coherency [95 %]", "peak [95 %]", "one worker [95 %]", "processes"];
    let rows: Vec<Vec<String>> = table
        .laws
        .iter()
        .map(|law| {
            let mut cells = vec![clean(&law.runtime), clean(&law.variant)];
            match &law.fit {
                Reading::Value(fit) => {
                    cells.extend(laws::cells(fit));
                    cells.push(String::new());
                }
                Reading::Missing(why) => {
                    cells.extend(names.map(|_| "-".to_owned()));
                    cells.push(clean(&why.to_string()));
                }
            }
            cells
        })
        .collect();
    let mut head = figures(names);
    head.push(("why not".to_owned(), false));
    let heading = format!("the law of scalability: {}", clean(&table.table));
    (!rows.is_empty()).then_some(Asked { heading, head, rows })
}

fn of_residents(table: &Residents) -> Asked {
    let names = [
        "bytes a task",
        "least to most",
        "processes",
        "MiB of the process",
        "tasks",
        "MiB before",
        "CPU to wake one",
    ];
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![clean(&row.runtime), clean(&row.variant)];
        cells.extend(match &row.held {
            None => vec!["-".to_owned(); names.len()],
            Some(held) => vec![
                residents::of_task(held, " (one size)"),
                residents::range(held),
                count(held.processes),
                residents::mib(held.resident),
                count(held.size),
                residents::mib(held.before),
                time(held.wake_ns),
            ],
        });
        cells.push(residents::end(row));
        cells
    });
    let mut head = figures(names);
    head.push(("ends".to_owned(), false));
    Asked { heading: residents::what(table, usize::MAX), head, rows: rows.collect() }
}

fn of_waits(table: &Waits) -> Asked {
    let names = ["p50", "p99", "longest", "until all are done", "CPU a task", "CPU a call", "holds up"];
    let rows = table.rows.iter().flat_map(|row| {
        row.ways.iter().map(|way| {
            let slash = if row.scheduler.is_empty() { "" } else { "/" };
            vec![
                clean(&row.runtime),
                clean(&format!("{}{slash}{}", row.scheduler, way.way)),
                time(way.p50),
                time(way.p99),
                time(way.max),
                time(way.whole),
                time(way.cpu),
                waits::call(way),
                if way.way == INLINE { waits::held(row) } else { "" }.to_owned(),
            ]
        })
    });
    Asked { heading: waits::what(table, usize::MAX), head: figures(names), rows: rows.collect() }
}

fn of_streams(table: &Streams) -> Asked {
    let mut names = vec!["MiB/s of CPU", "MiB/s of wall", "x floor [95 %]"];
    let published = table.rows.iter().any(|row| row.published_cpu_mib_s.is_some());
    if published {
        names.extend(["published, CPU", "published, wall"]);
    }
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![
            clean(&row.runtime),
            clean(&row.variant),
            streams::mib_s(row.cpu_mib_s),
            streams::mib_s(row.wall_mib_s),
            streams::floor(table, row),
        ];
        if published {
            cells.extend([row.published_cpu_mib_s, row.published_wall_mib_s].map(streams::mib_s));
        }
        cells
    });
    let heading = [streams::what(table, usize::MAX)].into_iter().chain(streams::said(table, usize::MAX));
    let head = names.into_iter().map(|name| (name.to_owned(), true)).collect();
    Asked { heading: heading.collect::<Vec<_>>().join("; "), head, rows: rows.collect() }
}

/// The percentiles of a pass.
fn of_passes(table: &Streams) -> Asked {
    let mut head = figures(streams::PERCENTILE_NAMES);
    head[0].1 = false;
    let heading = format!("{}: percentiles of a pass", streams::what(table, usize::MAX));
    Asked { heading, head, rows: streams::percentiles(table) }
}

fn of_rates(table: &Rates) -> Asked {
    let published = format!("published, {}", clean(&table.published_on));
    let mut head = figures(["tasks", "a second of CPU [95 %]", "a second of wall"]);
    head.extend([(published, true), ("here / published".to_owned(), true)]);
    let rows = table.rows.iter().map(|row| {
        vec![
            clean(&row.runtime),
            clean(&row.variant),
            count(row.size),
            rates::here(row),
            row.wall_per_s.map_or("-".to_owned(), rates::short),
            row.published.map_or("-".to_owned(), rates::published),
            rates::times(row),
        ]
    });
    Asked { heading: rates::what(table, usize::MAX), head, rows: rows.collect() }
}

fn of_splits(table: &Splits) -> Asked {
    let names = ["CPU a task", "create", "run and join", "collector [95 %]"];
    let mut head = figures(names);
    head.extend([("collections".to_owned(), true), ("why not".to_owned(), false)]);
    let rows = table.rows.iter().map(|row| {
        let mut cells = vec![clean(&row.runtime), splits::variant_and_case(row), time(row.ns)];
        let (parts, why) = match &row.parts {
            Reading::Value(parts) => (Some(parts), String::new()),
            Reading::Missing(why) => (None, clean(&why.to_string())),
        };
        cells.extend([
            splits::part(parts.and_then(|parts| parts.create), row.ns),
            splits::part(parts.map(|parts| parts.rest), row.ns),
            parts.map_or("-".to_owned(), splits::collector_of),
            splits::collections(row),
            why,
        ]);
        cells
    });
    Asked { heading: splits::what(table, usize::MAX), head, rows: rows.collect() }
}
