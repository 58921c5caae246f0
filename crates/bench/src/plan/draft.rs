//! Rows of one table at one size, as planned: without numbers, and with their baseline as a place
//! among them.

use taskscale_model::{
    answer::Rule,
    bytes,
    key::{RowKey, SeriesKey},
    missing::Missing,
    params::{ParamValue, Params},
    protocol::{Variant, Workload},
    run_file::{ANY, Role, RowRecord, Sweep},
    suite::{Block, Suite},
};

use crate::{meant, validate};

use super::{
    cell::{PlannedRow, RowState},
    found::{Found, Selection},
};

/// A row before it has a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    pub key: RowKey,
    pub creates_task: Option<bool>,
    pub jit: bool,
    pub settle_ms: Option<u64>,
    pub units: Option<u64>,
    pub sweep: Option<Sweep>,
    pub role: Role,
    /// The place of its baseline among the rows that are measured side by side.
    pub baseline: Option<usize>,
    pub state: RowState,
    /// The largest size that its variant bears, where there is one.
    pub max_size: Option<u64>,
}

/// Numbers rows that are measured side by side, from `next` on.
pub fn number(rows: Vec<Draft>, next: &mut u64) -> Vec<PlannedRow> {
    let first = *next;
    *next += rows.len() as u64;
    let numbered = (first..).zip(rows).map(|(row, draft)| PlannedRow {
        record: RowRecord {
            row,
            key: draft.key,
            creates_task: draft.creates_task,
            jit: draft.jit,
            settle_ms: draft.settle_ms,
            units: draft.units,
            sweep: draft.sweep,
            role: draft.role,
            baseline: draft.baseline.map(|place| first + place as u64),
        },
        state: draft.state,
        max_size: draft.max_size,
    });
    numbered.collect()
}

/// Whether `asked` (`variant` or `runtime:variant`) names this row.
pub fn names(asked: &str, key: &SeriesKey) -> bool {
    asked == key.variant || asked == key.full_name()
}

/// Whether a block repeats another one of its workload once the command line's parameters are put
/// over it: it sets one of them otherwise or not at all, and the other sets them all as asked.
pub fn is_repeated(suite: &Suite, block: &Block, selection: &Selection) -> bool {
    let asked = &selection.params;
    let otherwise = asked.iter().any(|(name, value)| block.params.get(name) != Some(value));
    let fits = |other: &Block| {
        other.name == block.name && asked.iter().all(|(name, value)| other.params.get(name) == Some(value))
    };
    otherwise && suite.workloads.iter().any(fits)
}

/// The table's title, with the parameters that the command line puts over the table's.
pub fn title(block: &Block, selection: &Selection) -> String {
    let work = selection.work_ns.map(|ns| format!("work={}us", ns as f64 / 1e3));
    let differ = selection.params.iter().filter(|(name, value)| block.params.get(*name) != Some(value));
    let differ = differ.map(|(name, value)| (name.clone(), value.clone())).collect();
    let params = Some(taskscale_model::params::label(&differ)).filter(|label| !label.is_empty());
    let added: Vec<String> = params.into_iter().chain(work).collect();
    if added.is_empty() { block.title() } else { format!("{}, {}", block.title(), added.join(" ")) }
}

/// Whether a runtime takes part in a block. A block that names runtimes is for them. A runtime that
/// the user asked for and that no block of the suite names (a user's own) takes part in all blocks.
pub fn takes_part(suite: &Suite, block: &Block, runtime: &Found) -> bool {
    takes_part_whole(suite, block, runtime) || has_floors(block, &runtime_name(runtime))
}

/// Whether a stream's floors are of this runtime.
fn has_floors(block: &Block, name: &str) -> bool {
    block.stream.as_ref().is_some_and(|stream| stream.has_floors_of(name))
}

/// Whether a runtime takes part with more than the floors of a stream.
pub fn takes_part_whole(suite: &Suite, block: &Block, runtime: &Found) -> bool {
    if runtime.only_floors {
        return false;
    }
    let name = runtime_name(runtime);
    let is_named = |block: &Block| block.runtimes.as_ref().is_some_and(|names| names.contains(&name));
    (block.runtimes.is_none() && !runtime.by_name)
        || is_named(block)
        || (runtime.asked && !suite.workloads.iter().any(is_named))
}

/// The runtime's name without its toolchain: `asyncio` for `asyncio@python3.8` and for any probe
/// that says that it is asyncio.
pub fn runtime_name(runtime: &Found) -> String {
    match &runtime.description {
        Ok(description) => description.runtime.name.clone(),
        Err(_) => runtime.id.split('@').next().unwrap_or_default().to_owned(),
    }
}

/// The rows of one runtime.
pub fn rows_of(
    suite: &Suite,
    block: &Block,
    size: u64,
    runtime: &Found,
    selection: &Selection,
) -> Vec<Draft> {
    let mut base = block.params.clone();
    base.extend(selection.params.clone());
    let series = SeriesKey {
        suite: suite.name.clone(),
        table: title(block, selection),
        workload: block.name.clone(),
        runtime: runtime.id.clone(),
        version: String::new(),
        variant: ANY.into(),
        case: Params::new(),
        params: base.clone(),
    };
    let blank = Draft {
        key: RowKey { series, size },
        creates_task: None,
        jit: false,
        settle_ms: None,
        units: block.share.as_ref().map(|share| share.count),
        sweep: None,
        role: Role::Row,
        baseline: None,
        state: RowState::Ready,
        max_size: None,
    };
    let skipped = |missing: Missing| vec![Draft { state: RowState::Skipped(missing), ..blank.clone() }];
    let description = match &runtime.description {
        Ok(description) => description,
        Err(missing) => return skipped(missing.clone()),
    };
    let refused = |missing: Missing| if runtime.asked { skipped(missing) } else { Vec::new() };
    let Some(workload) = description.workload(&block.name) else {
        let what = format!("{} does not offer {}", runtime.id, block.name);
        let names = description.workloads.iter().map(|workload| workload.name.as_str());
        let rest = "`taskscale list` shows what each runtime offers";
        return refused(Missing::new(what, meant::or_else(&block.name, names, rest)));
    };
    if let Some(missing) = validate::unavailable(workload, &base) {
        return skipped(missing);
    }
    if let Err(why) = validate::params(workload, &base) {
        // A table that names others is not about this one.
        if block.runtimes.as_ref().is_some_and(|names| !names.contains(&runtime_name(runtime))) {
            return Vec::new();
        }
        let what = format!("{} does not offer this {}: {}", runtime.id, block.name, why.reason);
        return refused(Missing::new(what, why.remedy));
    }
    let mut rows = Vec::new();
    let name = runtime_name(runtime);
    let is_floor =
        |variant: &Variant| block.stream.as_ref().is_some_and(|stream| stream.is_floor(&name, &variant.name));
    let only_floors = !takes_part_whole(suite, block, runtime);
    let bases = suite.baseline.get(&runtime_name(runtime)).map(Vec::as_slice).unwrap_or_default();
    let wanted: Vec<&Variant> = wanted(workload, block, selection, bases).collect();
    let is_wanted = |variant: &Variant| !only_floors && wanted.iter().any(|one| one.name == variant.name);
    for variant in workload.variants.iter().filter(|variant| is_wanted(variant) || is_floor(variant)) {
        let cases = std::iter::once(Params::new()).chain(block.cases.iter().cloned());
        for case in cases {
            let mut params = base.clone();
            params.extend(case.clone());
            // Bytes that nobody sums up are a floor's.
            let is_bare = case.get(bytes::MODE) == Some(&ParamValue::Word(bytes::NONE.into()));
            if is_bare && block.stream.is_some() && !is_floor(variant) {
                continue;
            }
            if !workload.accepts(&params) || !variant.allows(&with_defaults(workload, &params)) {
                continue;
            }
            let series = SeriesKey {
                version: description.runtime.version.clone(),
                variant: variant.name.clone(),
                case,
                params,
                ..blank.key.series.clone()
            };
            // A process whose memory is read answers once, and one that is watched has little to
            // do, so nothing levels off.
            let once = series.is_resident() || series.is_watched();
            let why_not = why_not(&block.name, variant, size)
                .or_else(|| validate::arrivals(&block.name, size, &series.params).err());
            let state = match (why_not, work_ns(block, selection)) {
                (Some(missing), _) => RowState::Skipped(missing),
                (None, Some(work_ns)) => RowState::Uncalibrated { work_ns },
                (None, None) => RowState::Ready,
            };
            rows.push(Draft {
                key: RowKey { series, size },
                // Whether a unit is a task divides the ways of a suite, which says what a unit is.
                creates_task: (block.answer.rule != Rule::Agree).then_some(variant.creates_task),
                jit: description.jit && !once,
                settle_ms: description.settle_ms.filter(|_| !once),
                state,
                max_size: variant.max_size,
                ..blank.clone()
            });
        }
    }
    rows
}

fn with_defaults(workload: &Workload, params: &Params) -> Params {
    let defaults = workload.params.iter().map(|param| (param.name.clone(), param.default.clone()));
    let mut all: Params = defaults.collect();
    all.extend(params.clone());
    all
}

/// Whether `asked` is a variant's whole name or one part of it between slashes.
pub fn is_meant(asked: &str, variant: &str) -> bool {
    asked == variant || variant.split('/').any(|part| part == asked)
}

/// Whether a table or a user that lists `name` means this variant. The whole name of a variant
/// means that one alone; else the last part of names between slashes does, else any part.
fn is_listed(name: &str, variant: &str, workload: &Workload) -> bool {
    let is_last = |variant: &str| variant.rsplit('/').next() == Some(name);
    let any = |is: &dyn Fn(&str) -> bool| workload.variants.iter().any(|one| is(&one.name));
    match (any(&|variant| variant == name), any(&is_last)) {
        (true, _) => variant == name,
        (false, true) => is_last(variant),
        (false, false) => is_meant(name, variant),
    }
}

/// Whether a variant stands in for one that this toolchain lacks.
fn stands_in(workload: &Workload, block: &Block, variant: &str) -> bool {
    let is_missing = |name: &str| workload.variant(name).is_some_and(|one| one.unavailable.is_some());
    block.stand_ins.iter().any(|(listed, other)| other == variant && is_missing(listed))
}

/// The variants that are asked for, and the `bases` of a table that is read as shares of them.
fn wanted<'a>(
    workload: &'a Workload,
    block: &'a Block,
    selection: &'a Selection,
    bases: &'a [String],
) -> impl Iterator<Item = &'a Variant> {
    workload.variants.iter().filter(move |variant| {
        let asked = &selection.variants;
        if asked.is_empty() {
            let names = block.variants.as_ref();
            names.is_none_or(|names| names.iter().any(|name| is_listed(name, &variant.name, workload)))
                || stands_in(workload, block, &variant.name)
        } else {
            let is_base = || block.share.is_some() && bases.contains(&variant.name);
            asked.iter().any(|name| is_listed(name, &variant.name, workload)) || is_base()
        }
    })
}

/// How long the work of each task is, where that is asked for as a time. Steps that the user asks
/// for stand before the table's time.
fn work_ns(block: &Block, selection: &Selection) -> Option<u64> {
    let of_table = block.scale.as_ref().and_then(|scale| scale.work_ns);
    selection.work_ns.or(of_table.filter(|_| !selection.params.contains_key("work")))
}

fn why_not(workload: &str, variant: &Variant, size: u64) -> Option<Missing> {
    if let Some(missing) = &variant.unavailable {
        return Some(missing.clone());
    }
    let limit = variant.max_size.filter(|limit| size > *limit)?;
    let note = if variant.note.is_empty() { String::new() } else { format!(": {}", variant.note) };
    let unit = if workload == bytes::WORKLOAD { "bytes" } else { "tasks" };
    Some(Missing::new(
        format!("can bear at most {limit} {unit}{note}"),
        format!("choose --size {limit} or less"),
    ))
}
