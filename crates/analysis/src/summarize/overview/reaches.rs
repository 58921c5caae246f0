//! How far variants come as a parameter grows.

use taskscale_model::{
    key::RowKey,
    params::ParamValue,
    run_file::Role,
    summary::{Reach, Reaches, Row},
};

use crate::read::Run;

/// The parameter of which a row's table asks how far it can go.
pub fn param<'r>(run: &'r Run, key: &RowKey) -> Option<&'r str> {
    run.block(key)?.reach.as_deref()
}

/// All tables that ask this, at each of their sizes. O(rows^2) within a table.
pub fn of(run: &Run, rows: &[Row]) -> Vec<Reaches> {
    let mut tables: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows.iter().filter(|row| row.role != Role::Control) {
        let Some(param) = param(run, &row.key) else { continue };
        let place = |row: &Row| (row.key.suite.clone(), row.key.table.clone(), row.key.size);
        match tables.iter_mut().find(|(_, known)| place(known[0]) == place(row)) {
            Some((_, known)) => known.push(row),
            None => tables.push((param, vec![row])),
        }
    }
    tables.into_iter().map(|(param, rows)| table(param, &rows)).collect()
}

fn table(param: &str, rows: &[&Row]) -> Reaches {
    let mut tried: Vec<(u64, &Row)> = rows
        .iter()
        .filter_map(|row| match row.key.params.get(param) {
            Some(ParamValue::Integer(value)) => Some((*value, *row)),
            _ => None,
        })
        .collect();
    tried.sort_by_key(|(value, _)| *value);
    let mut values: Vec<u64> = tried.iter().map(|(value, _)| *value).collect();
    values.dedup();
    let mut series: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let name = (row.key.runtime.as_str(), row.key.variant.as_str());
        if !series.contains(&name) {
            series.push(name);
        }
    }
    let of = |(runtime, variant): (&str, &str)| {
        let is_its = |row: &Row| (row.key.runtime.as_str(), row.key.variant.as_str()) == (runtime, variant);
        reach(runtime, variant, tried.iter().filter(|(_, row)| is_its(row)))
    };
    let key = &rows[0].key;
    Reaches {
        suite: key.suite.clone(),
        table: key.table.clone(),
        size: key.size,
        param: param.to_owned(),
        values,
        rows: series.into_iter().map(of).collect(),
    }
}

/// How far a series comes, by its rows with ascending values.
fn reach<'r>(runtime: &str, variant: &str, tried: impl Iterator<Item = &'r (u64, &'r Row)>) -> Reach {
    let (runtime, variant) = (runtime.to_owned(), variant.to_owned());
    let mut found = Reach { runtime, variant, passes: None, ends: None, reason: None };
    for (value, row) in tried {
        if let Some(missing) = row.missing() {
            (found.ends, found.reason) = (Some(*value), Some(missing.clone()));
            break;
        }
        found.passes = Some(*value);
    }
    found
}
