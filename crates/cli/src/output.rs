//! Standard output for data, standard error for words, and the exit status.

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, bail};
use taskscale_model::{
    compare::Comparison,
    plain::{clean, clean_lines, columns},
    summary::Summary,
};
use taskscale_report::Style;

use crate::args::{CompareFormat, Format, ShowArgs};

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// A finding that the caller gates on.
    Finding,
    /// Under `--strict`: nothing is worse, and of some row that cannot be told.
    Untold,
    /// Nothing could be measured or read, or not all that was named; the reasons were printed.
    Nothing,
    /// The user pressed Ctrl-C; what was measured is kept.
    Interrupted,
}

impl Outcome {
    /// What a gate makes of a comparison. Two machines tell nothing either.
    pub fn of(comparison: &Comparison, strict: bool) -> Outcome {
        let untold = comparison.counts.cannot_tell + comparison.counts.other_machine;
        match comparison.regression {
            true => Outcome::Finding,
            false if strict && (untold > 0 || comparison.rows.is_empty()) => Outcome::Untold,
            false => Outcome::Done,
        }
    }
}

/// Returns the exit status of a command. Prints an error with all its causes on standard error.
pub fn exit_code(done: anyhow::Result<Outcome>) -> ExitCode {
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Finding) => ExitCode::from(1),
        Ok(Outcome::Nothing) => ExitCode::from(2),
        Ok(Outcome::Untold) => ExitCode::from(3),
        Ok(Outcome::Interrupted) => ExitCode::from(130),
        // A reader who closes the pipe has seen enough: `taskscale list | head`.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            tell(&of_error(&error));
            ExitCode::from(2)
        }
    }
}

/// An error with all its causes. A path or a name in it has no line of its own, or it could say
/// something else in the tool's name.
fn of_error(error: &anyhow::Error) -> String {
    format!("taskscale: {}", clean(&format!("{error:#}")))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Prints data.
pub fn print(data: &str) -> anyhow::Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(data.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Says something to the person at the terminal, in lines of its width. A closed standard error is
/// no reason to fail.
pub fn tell(text: &str) {
    quote(&lines(&clean_lines(text), width_of_words()).join("\n"));
}

/// Whether no line of a text is wider than the terminal.
pub fn fits(text: &str) -> bool {
    text.lines().all(|line| columns(line) <= width_of_words())
}

/// A path as a word of a command that a shell reads. One that begins like an option gets its
/// folder.
pub fn word(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if text.len() > 1 && text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    shlex::try_quote(&text).map_or_else(|_| text.clone(), |quoted| quoted.into_owned())
}

/// Prints what others said, line by line as they said it, but plain.
pub fn quote(text: &str) {
    writeln!(anstream::stderr(), "{}", clean_lines(text)).ok();
}

/// The columns of the terminal that words go to.
fn width_of_words() -> usize {
    let width = terminal_size::terminal_size_of(io::stderr()).map(|(width, _)| usize::from(width.0));
    width.filter(|width| *width >= LEAST_COLUMNS).unwrap_or(COLUMNS)
}

/// The columns of a line of words where no terminal says how many it has.
const COLUMNS: usize = 80;

/// A terminal that says it has fewer has none.
const LEAST_COLUMNS: usize = 20;

/// The lines of a text for people in a pipe, which has no width of its own.
pub fn folded(text: &str) -> String {
    lines(text, COLUMNS).join("\n") + "\n"
}

/// Breaks each line at blanks, since commands are there to be copied. What follows stands two
/// columns further in.
fn lines(text: &str, width: usize) -> Vec<String> {
    let broken = |line: &str| -> Vec<String> {
        let inner = " ".repeat(line.len() - line.trim_start().len() + 2);
        let options = textwrap::Options::new(width).subsequent_indent(&inner).break_words(false);
        let options = options.word_separator(textwrap::WordSeparator::AsciiSpace);
        let options = options.word_splitter(textwrap::WordSplitter::NoHyphenation);
        taskscale_report::lines(line, &options)
    };
    text.lines().flat_map(broken).collect()
}

/// Prints the figures of a run in the format asked for. `run` is what names it to
/// `taskscale report`.
pub fn show(summary: &Summary, show: &ShowArgs, run: &str) -> anyhow::Result<()> {
    match show.format {
        Format::Text if show.details => print(&taskscale_report::text(summary, &style(true))),
        Format::Text => print(&taskscale_report::overview(summary, &style(false), run)),
        Format::Md => print(&taskscale_report::markdown(summary)),
        Format::Json => print(&taskscale_report::json(summary)),
    }
}

/// What a file holds, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Text,
    Markdown,
    Json,
    Csv,
    Html,
    Svg,
}

impl Ending {
    /// The ending of this name.
    ///
    /// # Errors
    /// It has none of those that there are.
    pub fn of(path: &Path) -> anyhow::Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("txt") => Ok(Ending::Text),
            Some("md") => Ok(Ending::Markdown),
            Some("json") => Ok(Ending::Json),
            Some("csv") => Ok(Ending::Csv),
            Some("html") => Ok(Ending::Html),
            Some("svg") => Ok(Ending::Svg),
            _ => bail!("{} ends in none of .txt, .md, .json, .csv, .html and .svg", path.display()),
        }
    }
}

/// Writes the report of a run to a file.
pub fn write(summary: &Summary, ending: Ending, path: &Path) -> anyhow::Result<()> {
    let plain = Style { detailed: true, ..Style::default() };
    let text = match ending {
        Ending::Text => taskscale_report::text(summary, &plain),
        Ending::Markdown => taskscale_report::markdown(summary),
        Ending::Json => taskscale_report::json(summary),
        Ending::Csv => taskscale_report::csv(summary),
        Ending::Html => taskscale_report::page(summary),
        Ending::Svg => taskscale_report::strip_svg(summary),
    };
    let new = !path.exists();
    std::fs::write(path, text).with_context(|| {
        // A full disk leaves a part, which nobody can read.
        if new {
            std::fs::remove_file(path).ok();
        }
        format!("cannot write {}", path.display())
    })
}

/// Prints the verdicts of a comparison in the format asked for. `command` is what repeats it.
pub fn show_comparison(
    comparison: &Comparison,
    format: CompareFormat,
    details: bool,
    command: &str,
) -> anyhow::Result<()> {
    print(&match format {
        CompareFormat::Text if !details => {
            taskscale_report::compare_overview(comparison, &style(false), command)
        }
        CompareFormat::Text => taskscale_report::compare_text(comparison, &style(false)),
        CompareFormat::Md => taskscale_report::compare_markdown(comparison),
        CompareFormat::Json => taskscale_report::compare_json(comparison),
        CompareFormat::Junit => taskscale_report::compare_junit(comparison),
    })
}

/// Uses colour and the window's width on a terminal, and the report's own defaults elsewhere. The
/// width is at least the default.
pub fn style(detailed: bool) -> Style {
    let plain = Style { detailed, ..Style::default() };
    if !io::stdout().is_terminal() {
        return plain;
    }
    let width = terminal_size::terminal_size().map_or(plain.width, |(width, _)| usize::from(width.0));
    Style { colour: true, width: width.max(plain.width), ..plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, quoted) in [
            ("last", "last"),
            ("-", "-"),
            ("a b.jsonl", "'a b.jsonl'"),
            ("$(rm -r x);", "'$(rm -r x);'"),
            ("it's", "\"it's\""),
            ("-x.jsonl", "./-x.jsonl"),
        ] {
            assert_eq!(word(Path::new(path)), quoted);
            let words = shlex::split(quoted).expect("words");
            assert_eq!(words.concat().trim_start_matches("./"), path);
        }
    }

    #[test]
    fn a_path_in_an_error_has_no_line_of_its_own_and_drives_no_terminal() {
        let error = anyhow::anyhow!("cannot open a\ntaskscale: all is well\u{1b}[2J\u{202e}");
        assert_eq!(of_error(&error), "taskscale: cannot open a taskscale: all is well?[2J?");
    }

    #[test]
    fn words_fit_the_terminal_and_no_path_is_broken() {
        let path = format!("/a-long-path/{}", "x".repeat(80));
        let text = format!("taskscale: {} {path} is read\n  and {}", "word ".repeat(20), "more ".repeat(20));
        let lines = lines(&text, 80);
        assert!(lines.iter().all(|line| line.len() <= 80 || line.trim() == path), "{lines:#?}");
        assert!(lines[0].starts_with("taskscale: word") && lines[1].starts_with("  word"), "{lines:#?}");
        assert!(lines.contains(&format!("  {path}")), "{lines:#?}");
        assert!(lines.last().is_some_and(|line| line.starts_with("    more")), "{lines:#?}");
        let again = lines.join(" ");
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&again), words(&text));
    }

    #[test]
    fn a_name_that_no_line_has_room_for_is_broken_by_columns() {
        for name in [&*"n".repeat(200), &format!("{}/{}", "n".repeat(90), "\u{666e}".repeat(60))] {
            let lines = lines(&format!("taskscale: no variant is named {name}; there are others"), 80);
            assert!(lines.iter().all(|line| columns(line) <= 80), "{lines:#?}");
            assert!(lines.concat().replace("  ", "").contains(name), "{lines:#?}");
        }
    }
}
