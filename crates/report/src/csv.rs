//! The rows of a summary as comma-separated values, for spreadsheets and data frames.

use taskscale_model::{
    params,
    summary::{
        Interval, Summary,
        lines::{Line, lines},
    },
};

/// The columns, in their order. They have the names and units that `json` gives them; an interval
/// has a column for each end.
const COLUMNS: [&str; 31] = [
    "suite",
    "table",
    "workload",
    "runtime",
    "version",
    "variant",
    "case",
    "size",
    "role",
    "metric",
    "unit",
    "n",
    "p0",
    "p25",
    "p50",
    "p75",
    "p90",
    "p99",
    "p100",
    "ci_low",
    "ci_high",
    "ratio",
    "ratio_low",
    "ratio_high",
    "baseline",
    "creates_task",
    "exact",
    "status",
    "stop",
    "reason",
    "remedy",
];

/// Writes one line for each metric of each row, below a line of column names. What a metric does
/// not have is empty. O(rows).
pub fn csv(summary: &Summary) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory cannot fail, and all records have as many fields as the first.
    writer.write_record(COLUMNS).ok();
    for line in summary.rows.iter().flat_map(lines) {
        writer.write_record(record(&line)).ok();
    }
    writer.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
}

fn record(line: &Line) -> [String; COLUMNS.len()] {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let low = |ci: Option<Interval>| number(ci.map(|ci| ci.0));
    let high = |ci: Option<Interval>| number(ci.map(|ci| ci.1));
    let yes = |value: Option<bool>| value.map(|value| value.to_string()).unwrap_or_default();
    let key = &line.key;
    [
        text(&key.suite),
        text(&key.table),
        text(&key.workload),
        text(&key.runtime),
        text(&key.version),
        text(&key.variant),
        text(&params::label(&key.case)),
        key.size.to_string(),
        word(serde_json::to_value(line.role)),
        line.metric.clone(),
        line.unit.clone(),
        line.n.to_string(),
        number(line.p0),
        number(line.p25),
        number(line.p50),
        number(line.p75),
        number(line.p90),
        number(line.p99),
        number(line.p100),
        low(line.ci),
        high(line.ci),
        number(line.ratio),
        low(line.ratio_ci),
        high(line.ratio_ci),
        text(line.baseline.as_deref().unwrap_or_default()),
        yes(line.creates_task),
        yes(line.exact),
        word(serde_json::to_value(line.status)),
        word(serde_json::to_value(line.stop)),
        text(line.reason.as_deref().unwrap_or_default()),
        text(line.remedy.as_deref().unwrap_or_default()),
    ]
}

/// A word as `json` writes it.
fn word(value: serde_json::Result<serde_json::Value>) -> String {
    match value {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// A text of somebody else's. A spreadsheet takes one that begins with `=`, `+`, `-` or `@` for a
/// formula, so that a quotation mark comes before it.
fn text(text: &str) -> String {
    let text = crate::style::clean(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}
