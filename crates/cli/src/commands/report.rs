//! `taskscale report`: shows the answer of a run file again, or all of its figures.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use taskscale_analysis::{Run, Sort, SummaryOptions, read::Damage};
use taskscale_bench::meant;
use taskscale_model::{
    plain::clean,
    run_file::{ANY, Kind, RowRecord},
    summary::Summary,
};

use crate::{
    args::{Format, ReportArgs, SortBy},
    commands::guide,
    output::{self, Outcome},
    run_file::{self, Redacted, Source},
    store,
};

/// The word for the newest run file.
pub const LAST: &str = "last";

pub fn report(args: &ReportArgs) -> anyhow::Result<Outcome> {
    let endings =
        args.output.iter().map(|path| output::Ending::of(path)).collect::<anyhow::Result<Vec<_>>>()?;
    if !args.output.is_empty() && args.runs.len() > 1 {
        bail!("--output takes the report of one run; name one, or leave --output out");
    }
    if args.redact.is_some() && args.runs.len() > 1 {
        bail!("--redact writes one run file anew; name one");
    }
    for (at, run) in args.runs.iter().enumerate() {
        let path = resolve(run)?;
        let damage = if args.salvage { Damage::LeftOut } else { Damage::Refused };
        if let Some(out) = &args.redact {
            let redacted = run_file::redact(&path, out, damage)?;
            tell_of_redacted(&path, out, redacted);
            continue;
        }
        let mut source = Source::open(&path)?;
        if source.is_the_guide()? {
            if args.runs.len() > 1 {
                output::tell(&format!("{}:", path.display()));
            }
            guide::report(&source.bytes()?, &path, args)?;
            continue;
        }
        if let Some(library) = &args.library {
            bail!("{} is no run of the guide, and has no library {library}", path.display());
        }
        if let Some(number) = args.claim.first() {
            bail!("{} is no run of the guide, and has no claim {number}", path.display());
        }
        let read = run_file::of(source, damage)?;
        if path != *run {
            output::tell(&about_last(&path, &read));
        }
        let summary = summary_of(&path, read, args)?;
        if args.runs.len() > 1 && args.show.format == Format::Text && args.output.is_empty() {
            // One behind the other in a pipe, the screens say whose they are.
            let between = if at == 0 { "" } else { "\n" };
            output::print(&format!("{between}{}:\n", clean(&path.display().to_string())))?;
        }
        for (file, ending) in args.output.iter().zip(&endings) {
            output::write(&summary, *ending, file)?;
        }
        if args.output.is_empty() {
            output::show(&summary, &args.show, &output::word(run))?;
        }
    }
    Ok(Outcome::Done)
}

/// Says what was looked for and found, and what the new file lacks.
fn tell_of_redacted(path: &Path, out: &Path, Redacted { changed, left_out }: Redacted) {
    let lines = |n: u64, kind: &str| format!("{n} {kind}line{}", if n == 1 { "" } else { "s" });
    output::tell(&format!(
        "taskscale: {}: looked for home folders, users' names, and values that their name or form shows \
         to be secret; replaced in {}. A secret in a word of its own stays: look at the command lines",
        out.display(),
        lines(changed, "")
    ));
    if left_out > 0 {
        output::tell(&format!(
            "taskscale: {}: {} of {} left out; taskscale report --salvage --details {} says which, and reads \
             the new file too",
            out.display(),
            lines(left_out as u64, "damaged "),
            path.display(),
            output::word(path)
        ));
    }
}

/// Which run is the newest, how old it is, and whether it came to its end.
fn about_last(path: &Path, run: &Run) -> String {
    let age_s = taskscale_sys::clock::unix_time_s().saturating_sub(run.header.started_unix_s);
    let age = match age_s {
        ..60 => format!("{age_s} s"),
        60..3_600 => format!("{} min", age_s / 60),
        3_600..172_800 => format!("{} h", age_s / 3_600),
        _ => format!("{} days", age_s / 86_400),
    };
    let cut = if run.ended.is_some() { "" } else { "; it was cut short, and has no end" };
    format!("taskscale: the newest run, begun {age} ago: {}{cut}", path.display())
}

fn summary_of(path: &Path, mut run: Run, args: &ReportArgs) -> anyhow::Result<Summary> {
    if run.rows.is_empty() {
        bail!("{} ends before the first row was planned; measure again: taskscale run", path.display());
    }
    if let Some(named) = &args.baseline {
        check_baseline(&run, named)?;
    }
    check_filters(&run, args)?;
    run.keep(|runtime| fits(args.runtime.as_ref(), runtime), |row| is_kept(args, row));
    if let Some(named) = args.baseline.as_ref().filter(|named| !run.rows.iter().any(|row| is(row, named))) {
        bail!("--baseline {named} is left out by --runtime, --variant or --size; let them match it too");
    }
    let sort = match args.sort {
        SortBy::Cost => Sort::Cost,
        SortBy::Name => Sort::Name,
    };
    Ok(taskscale_analysis::summarize_with(&run, &SummaryOptions { reference: args.baseline.clone(), sort }))
}

/// Whether a filter that may be absent matches.
fn fits(pattern: Option<&regex::Regex>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(text))
}

fn is_kept(args: &ReportArgs, row: &RowRecord) -> bool {
    fits(args.runtime.as_ref(), &row.key.runtime)
        && fits(args.variant.as_ref(), &row.key.variant)
        && fits(args.size.as_ref(), &row.key.size.to_string())
}

/// Says what there is where a filter matches nothing, or all of them together leave no row.
fn check_filters(run: &Run, args: &ReportArgs) -> anyhow::Result<()> {
    type Name = fn(&RowRecord) -> String;
    let filters: [(&str, Option<&regex::Regex>, Name); 3] = [
        ("--runtime", args.runtime.as_ref(), |row| row.key.runtime.clone()),
        ("--variant", args.variant.as_ref(), |row| row.key.variant.clone()),
        ("--size", args.size.as_ref(), |row| row.key.size.to_string()),
    ];
    for (option, pattern, name) in filters {
        let Some(pattern) = pattern else { continue };
        let mut names = Vec::new();
        for row in &run.rows {
            let name = name(row);
            if name != ANY && !names.contains(&name) {
                names.push(name);
            }
        }
        if !names.iter().any(|name| pattern.is_match(name)) {
            let typed = pattern.as_str().trim_start_matches("^(?:").trim_end_matches(")$");
            bail!("{option} {typed} matches nothing in this run; {}", instead_of(typed, &names));
        }
    }
    if !run.rows.iter().any(|row| is_kept(args, row)) {
        bail!("no row of this run fits --runtime, --variant and --size together; leave one of them out");
    }
    Ok(())
}

/// What there is instead of a filter that matches nothing. A variant is known by its last part too,
/// and told by its whole name, since a filter matches no part.
fn instead_of(typed: &str, names: &[String]) -> String {
    let part =
        |name: &'_ String| name.rsplit('/').next().is_some_and(|part| meant::meant(typed, [part]).is_some());
    let whole = meant::meant(typed, names.iter().map(String::as_str));
    let near: Vec<&str> = match whole {
        Some(name) => vec![name],
        None => names.iter().filter(|name| part(name)).map(String::as_str).collect(),
    };
    let all = names.join(", ");
    match near.is_empty() {
        true => format!("there are {all}"),
        false => format!("did you mean {}? There are {all}", near.join(" or ")),
    }
}

/// Whether `named` (`runtime` or `runtime:variant`) is this row.
fn is(row: &RowRecord, named: &str) -> bool {
    let key = &row.key;
    key.runtime == named
        || key.full_name() == named
        || format!("{}:{}", key.runtime, key.variant_and_case()) == named
}

/// Says what there is where `named` is no row, or one without figures.
fn check_baseline(run: &Run, named: &str) -> anyhow::Result<()> {
    let rows: Vec<&RowRecord> = run.rows.iter().filter(|row| is(row, named)).collect();
    if rows.is_empty() {
        let mut known: Vec<String> = run.rows.iter().map(|row| row.key.full_name()).collect();
        known.sort();
        known.dedup();
        let way = format!(":{named}");
        let meant: Vec<&str> = known.iter().filter(|name| name.ends_with(&way)).map(String::as_str).collect();
        if !meant.is_empty() {
            bail!("--baseline {named} names no runtime; write {}", meant.join(" or "));
        }
        let rest = format!("there are {}", known.join(", "));
        let names = known.iter().flat_map(|name| [name.as_str()].into_iter().chain(name.split(':').next()));
        bail!("--baseline {named} is not a row of this run; {}", meant::or_else(named, names, &rest));
    }
    let timed = |row: &&RowRecord| {
        run.samples.iter().any(|sample| sample.row == row.row && sample.kind == Kind::Timed)
    };
    if !rows.iter().any(timed) {
        bail!("--baseline {named} has no figures in this run; `taskscale report` without it says why");
    }
    Ok(())
}

/// The run file that was named. A file of the name `last` comes before the newest run.
pub fn resolve(named: &Path) -> anyhow::Result<PathBuf> {
    if named != Path::new(LAST) || named.exists() {
        return Ok(named.to_owned());
    }
    store::newest().context(
        "there is no run to report yet: taskscale run takes one; what went to a file of its own by -o is \
         reported by its name",
    )
}
