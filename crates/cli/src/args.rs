//! Defines every word that can be typed. Help, man page and completions all come from these
//! definitions.

mod digest;
mod examples;

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use clap_complete::{ArgValueCandidates as Names, ArgValueCompleter as Files};

use taskscale_model::metric::{self, Metric};

use crate::{complete, guide, names};

pub use digest::{By, DigestArgs, DigestFormat, MergeArgs, SourceArgs, TimeUnit};
use examples::*;

/// Weigh your tasks; see how they scale.
#[derive(Debug, Parser)]
#[command(name = "taskscale", version, about, long_about = LONG, max_term_width = 80)]
#[command(propagate_version = true, arg_required_else_help = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const LONG: &str = "Weigh your tasks; see how they scale.\n\n\
    taskscale measures what a concurrent task costs on this machine, in each runtime it finds, and how that cost \
    grows with the number of tasks. tokio, rayon, smol and threads are built in; for asyncio, Go, Java, Node, C++, \
    Swift, .NET and OCaml it uses the toolchains that it finds on this machine (taskscale list).";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure what a task costs here
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunArgs>),
    /// List suites, workloads and variants, and the runtimes found here
    #[command(after_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show the answer of a run again, or all of its figures
    #[command(after_help = REPORT_EXAMPLES)]
    Report(ReportArgs),
    /// Say of two run files which rows got worse; exit status 1 if any did
    #[command(after_help = COMPARE_EXAMPLES, override_usage = COMPARE_USAGE)]
    Compare(CompareArgs),
    /// Say where the workers' time went, from any task trace, in at most 2,048 bytes
    #[command(after_help = DIGEST_EXAMPLES)]
    Digest(DigestArgs),
    /// Merge partial sums of digests, and print the digest of the whole
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Build probes ahead of their first use; install uvloop, trio and anyio for Python
    #[command(after_help = SETUP_EXAMPLES)]
    Setup(SetupArgs),
    /// Write the smallest working probe of a language, for your own code
    #[command(after_help = NEW_PROBE_EXAMPLES)]
    NewProbe(NewProbeArgs),
    /// Print the flags that a C or C++ program is built with to be observed live
    #[command(after_help = CONFIG_EXAMPLES)]
    Config(ConfigArgs),
    /// Say what on this machine blurs or biases the figures, measured, and what to do about it
    #[command(after_help = DOCTOR_EXAMPLES)]
    Doctor(DoctorArgs),
    /// Work with probes: the programs that perform and time a workload
    #[command(subcommand)]
    Probe(ProbeCommand),
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one for each subcommand
    #[command(
        after_help = "Examples:\n  taskscale man | man -l -\n  taskscale man --folder ~/.local/share/man/man1"
    )]
    Man {
        /// Write taskscale.1, taskscale-run.1 and so on into this folder
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// `taskscale doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// How to print the findings
    #[arg(long, short, value_enum, default_value_t = DoctorFormat::Text)]
    pub format: DoctorFormat,
    /// Show every check with what it found and touches (text)
    #[arg(long)]
    pub details: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DoctorFormat {
    /// For a terminal
    Text,
    /// For a pull request
    Md,
    /// One object of schema taskscale.doctor/1
    Json,
}

/// `taskscale run`.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Suites to run, by name or as a path to a .toml file [default: quick; with --probe, and
    /// without --runtime, what the probe registers]
    #[arg(value_name = "SUITE", add = Files::new(complete::suites))]
    pub suites: Vec<String>,
    /// Runtime to weigh; repeat for several, or set commas between. NAME@TOOLCHAIN names one
    /// toolchain, by path or by its name on the PATH
    #[arg(long, short, value_name = "NAME[@TOOLCHAIN]", value_delimiter = ',', value_parser = names::canonical, add = Names::new(complete::runtimes))]
    pub runtime: Vec<String>,
    /// Variant to weigh, by its whole name, else by a part between slashes; repeat for several
    #[arg(long, value_name = "NAME", add = Names::new(complete::variants))]
    pub variant: Vec<String>,
    /// Number of tasks, instead of the suite's sizes; repeat for several (commas group thousands)
    #[arg(long, short = 'n', value_name = "N", value_parser = size, allow_negative_numbers = true)]
    pub size: Vec<u64>,
    /// Only this claim, of the suite guide; repeat for several
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub claim: Vec<u32>,
    /// Only this library, of the suite guide; repeat for several, or set commas between [default:
    /// taskflow, with --all all of them]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = libraries())]
    pub library: Vec<String>,
    /// Rounds at most [default: the suite's, else 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub samples: Option<u64>,
    /// Time at most for one cell, that is one table at one size, its counts included; of the suite
    /// guide, for all of its programs together [default: the suite's, else 30s, without counts]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub max_time: Option<f64>,
    /// Stop when every interval is as narrow as this, to either side; 0 never does [default: the
    /// suite's, else 1%]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// How long one sample should last [default: the suite's, else 20ms]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub sample_time: Option<f64>,
    /// How long a probe may take over one answer before it counts as hung [default: the suite's,
    /// else 60s]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub timeout: Option<f64>,
    /// What the ratios refer to: VARIANT of the same runtime, or RUNTIME:VARIANT
    #[arg(long, value_name = "[RUNTIME:]VARIANT", add = Names::new(complete::variants))]
    pub baseline: Option<String>,
    /// Judge each runtime or probe of this run against an older one, in turns: NAME@TOOLCHAIN, or a
    /// --probe FILE or CMD (the first stands against the first --probe, and so on). Prints
    /// verdicts; exit status 1 if a row is worse
    #[arg(long, value_name = "OLD", value_parser = names::canonical, conflicts_with_all = ["baseline", "details"], add = Files::new(complete::sides))]
    pub against: Vec<String>,
    /// With --against: up to this difference rows count as the same
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true, default_value = "1%", requires = "against")]
    pub threshold: f64,
    /// With --against: exit status 3 where no row is worse and of some row it cannot be told
    #[arg(long, requires = "against")]
    pub strict: bool,
    /// Your own probe: a file (.py, .mjs, .go, .java, .cpp, .swift, .rs, .cs, .fsx, .ml;
    /// FILE@TOOLCHAIN names what builds it), or a command that speaks probe protocol 1; repeat for
    /// several
    #[arg(long, value_name = "FILE|CMD", add = Files::new(complete::probes))]
    pub probe: Vec<String>,
    /// Runtime to put beside a --probe that runs without a suite, where it has a workload of that
    /// name; several with commas
    #[arg(long, value_name = "NAME[@TOOLCHAIN]", value_delimiter = ',', value_parser = names::canonical, requires = "probe", add = Names::new(complete::runtimes))]
    pub beside: Vec<String>,
    /// CPU time of the work inside each task, calibrated for each runtime [default: none]
    #[arg(long, value_name = "TIME", value_parser = seconds, allow_hyphen_values = true)]
    pub work: Option<f64>,
    /// A parameter of the workload, put over the suite's; NAME=all keeps every value that a table
    /// of the suite has; NAME=1,2,4 takes each in turn, with a --probe without a suite; repeat for
    /// several
    #[arg(long, value_name = "NAME=VALUE", value_parser = param)]
    pub param: Vec<(String, taskscale_model::params::ParamValue)>,
    /// What else to measure, in further processes of each row that are not timed: allocs, bytes,
    /// rss, syscalls, switches, faults, gc, instructions, retains, callgrind; cpu and wall are
    /// always taken
    #[arg(long, value_name = "LIST", value_delimiter = ',', hide_possible_values = true, value_parser = metrics())]
    pub metrics: Vec<Metric>,
    /// Short for --metrics allocs,bytes,syscalls
    #[arg(long)]
    pub counts: bool,
    /// Also measure the tables that a suite leaves out by itself: further ways and cases; of the
    /// suite guide, all libraries
    #[arg(long)]
    pub all: bool,
    /// Plan for how cost grows: seven sizes in turn where a table has fewer than four, no controls;
    /// ends when each growth is certain, or after --max-time, which is then of all [default: a
    /// minute, and 10s for each series beyond four]
    #[arg(long, conflicts_with_all = ["quick", "against"])]
    pub grade: bool,
    /// Fewer and shorter samples, at most 3s a cell: a first look
    #[arg(long)]
    pub quick: bool,
    /// The number from which everything random follows [default: random; it is recorded]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where to keep the raw samples [default: a new file in the state folder, named at the end]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also keep the finished run as .taskscale/NAME.taskscale.jsonl in this folder, over the one
    /// of before
    #[arg(long, value_name = "NAME", value_parser = baseline_name, add = Names::new(complete::baselines))]
    pub save_baseline: Option<String>,
    /// How to print the figures
    #[command(flatten)]
    pub show: ShowArgs,
}

/// How figures are printed.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Format of the figures on standard output
    #[arg(long, short, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Show all figures in place of the answer: percentiles, threads, growth, notes (text)
    #[arg(long)]
    pub details: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One screen for a terminal; with --details tables
    Text,
    /// Tables for a pull request
    Md,
    /// One object of schema taskscale.summary/1
    Json,
}

impl From<Format> for CompareFormat {
    fn from(format: Format) -> Self {
        match format {
            Format::Text => CompareFormat::Text,
            Format::Md => CompareFormat::Md,
            Format::Json => CompareFormat::Json,
        }
    }
}

/// `taskscale list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Suites and runtimes to look at in full [default: one line of each]
    #[arg(value_name = "NAME[@TOOLCHAIN]", value_parser = names::canonical, add = Names::new(complete::names))]
    pub names: Vec<String>,
    /// Runtime to look at in full; repeat for several
    #[arg(long, short, value_name = "NAME[@TOOLCHAIN]", value_parser = names::canonical, add = Names::new(complete::runtimes))]
    pub runtime: Vec<String>,
}

/// `taskscale setup`.
#[derive(Debug, Args)]
pub struct SetupArgs {
    /// Runtimes or languages (python, go, java, node, cpp, swift, csharp, fsharp, ocaml) [default:
    /// all found]
    #[arg(value_name = "NAME[@TOOLCHAIN]", value_parser = names::canonical, add = Names::new(complete::setups))]
    pub runtime: Vec<String>,
}

/// `taskscale new-probe`.
#[derive(Debug, Args)]
pub struct NewProbeArgs {
    /// rust, python, go, java, node, cpp, swift, csharp, fsharp or ocaml
    #[arg(value_name = "LANG", value_parser = names::canonical, add = Names::new(complete::languages))]
    pub language: String,
    /// The file to write [default: my_probe with the language's ending]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
}

/// `taskscale config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Where the headers are
    #[arg(long)]
    pub cflags: bool,
    /// The library, and what it needs
    #[arg(long)]
    pub libs: bool,
    /// Link with the shared library
    #[arg(long)]
    pub shared: bool,
}

/// `taskscale report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run files; last is the newest one that taskscale keeps; - is standard input
    #[arg(value_name = "RUN", required = true, add = Files::new(complete::runs))]
    pub runs: Vec<PathBuf>,
    /// What the ratios of the ranking refer to: RUNTIME, or RUNTIME:VARIANT
    #[arg(long, value_name = "RUNTIME[:VARIANT]", add = Names::new(complete::measured_runtimes))]
    pub baseline: Option<String>,
    /// The order of the ranking
    #[arg(long, value_enum, default_value_t = SortBy::Cost)]
    pub sort: SortBy,
    /// Only runtimes whose whole name matches, for example 'asyncio.*|go'
    #[arg(long, value_name = "REGEX", value_parser = whole, add = Names::new(complete::measured_runtimes))]
    pub runtime: Option<regex::Regex>,
    /// Only variants whose whole name matches
    #[arg(long, value_name = "REGEX", value_parser = whole, add = Names::new(complete::measured_variants))]
    pub variant: Option<regex::Regex>,
    /// Only sizes that match, for example '2048|4096'
    #[arg(long, short = 'n', value_name = "REGEX", value_parser = whole)]
    pub size: Option<regex::Regex>,
    /// Only this claim, with all that was measured, of a run of the guide; repeat for several
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub claim: Vec<u32>,
    /// Read around damaged lines, and say which they are
    #[arg(long)]
    pub salvage: bool,
    /// Print no report: write the run anew to this new file, without home folders, users' names
    /// and secrets of command lines, and with a check in each line
    #[arg(long, value_name = "OUT", conflicts_with_all = ["output", "details", "format"])]
    pub redact: Option<PathBuf>,
    /// The claims by this library, of a run of the guide [default: taskflow]
    #[arg(long, value_name = "NAME", value_parser = libraries())]
    pub library: Option<String>,
    /// Write the report to a file by its ending: .txt, .md, .json, .csv, .html (one page, without
    /// network) or .svg (the first ranking); repeat for several. Nothing is printed then
    #[arg(long, short, value_name = "FILE", add = Files::new(complete::reports))]
    pub output: Vec<PathBuf>,
    /// How to print the figures
    #[command(flatten)]
    pub show: ShowArgs,
}

/// The order of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SortBy {
    /// The cheapest first
    Cost,
    /// By runtime and variant
    Name,
}

/// An expression that the whole of a name must match.
fn whole(text: &str) -> Result<regex::Regex, String> {
    regex::Regex::new(&format!("^(?:{text})$")).map_err(|error| format!("not a regular expression: {error}"))
}

/// `taskscale compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run that is referred to and the one that is judged; or one that
    /// `taskscale run --against OLD` took, with both sides in it; - is standard input, and
    /// `last` the newest run
    #[arg(value_name = "RUN", required = true, num_args = 1..=2, add = Files::new(complete::run_files))]
    pub runs: Vec<PathBuf>,
    /// Refer to the run that `taskscale run --save-baseline NAME` kept in this folder
    #[arg(long, value_name = "NAME", value_parser = baseline_name, add = Names::new(complete::baselines))]
    pub baseline: Option<String>,
    /// Up to this difference rows count as the same [default: 2%, and 1% within one run]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_hyphen_values = true)]
    pub threshold: Option<f64>,
    /// What to compare
    #[arg(long, value_enum, default_value_t = CompareMetric::Cpu)]
    pub metric: CompareMetric,
    /// How to print the verdicts
    #[arg(long, short, value_enum, default_value_t = CompareFormat::Text)]
    pub format: CompareFormat,
    /// Show every row and every reason (text)
    #[arg(long)]
    pub details: bool,
    /// Exit status 3 where no row is worse and of some row it cannot be told
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareMetric {
    /// CPU time per task, of all threads
    Cpu,
    /// Wall time per task: also that of the neighbours
    Wall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For a terminal
    Text,
    /// For a comment on a pull request
    Md,
    /// One object of schema taskscale.compare/1
    Json,
    /// JUnit XML: worse is a failure, what cannot be told is skipped
    Junit,
}

/// `taskscale probe`.
#[derive(Debug, Subcommand)]
pub enum ProbeCommand {
    /// Test a probe, anyone's, for conformance to probe protocol 1; exit status 1 if it fails
    #[command(after_help = "Examples:
  taskscale probe check 'python3 my_probe.py'
  taskscale probe check --runtime asyncio@python3.8")]
    Check(CheckArgs),
    /// Be a probe of a runtime that is built in: speaks probe protocol 1 on standard input and
    /// output
    #[command(
        after_help = "Example:\n  echo '{\"type\":\"describe\",\"protocol\":1}' | taskscale probe serve tokio"
    )]
    Serve {
        /// tokio, rayon, smol or threads
        #[arg(add = Names::new(complete::built_in))]
        runtime: String,
    },
    /// Make files of the workload `bytes` for a probe's author, and serve them until input ends
    #[command(after_help = "Example:\n  taskscale probe bytes 65537")]
    Bytes(BytesArgs),
    /// End the probes of a taskscale once it has ended
    #[command(hide = true)]
    Watch {
        /// What its probes carry
        mark: String,
    },
}

/// `taskscale probe check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The probe: a file (.py, .go ...) or the command that starts it
    #[arg(value_name = "FILE|CMD", required_unless_present = "runtime", add = Files::new(complete::probes))]
    pub command: Option<String>,
    /// A runtime's own probe instead
    #[arg(long, short, value_name = "NAME[@TOOLCHAIN]", value_parser = names::canonical, conflicts_with = "command", add = Names::new(complete::runtimes))]
    pub runtime: Option<String>,
    /// How long it may take over one answer
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "20s")]
    pub timeout: f64,
    /// Show every check, not only what failed
    #[arg(long, short)]
    pub verbose: bool,
}

/// `taskscale probe bytes`.
#[derive(Debug, Args)]
pub struct BytesArgs {
    /// How many bytes; several for several files
    #[arg(value_name = "SIZE", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub sizes: Vec<u64>,
    /// Where the files are, in the place of a folder in the cache
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

/// The libraries that the guide is tried on.
fn libraries() -> impl TypedValueParser<Value = String> {
    let aliases = guide::libraries::ALIASES;
    let named = std::iter::once(guide::TASKFLOW).chain(guide::libraries::ALL.iter().map(|one| one.name));
    let values = named.map(move |name| {
        let meant = aliases.iter().filter(move |(_, of)| *of == name).map(|(alias, _)| *alias);
        PossibleValue::new(name).aliases(meant)
    });
    // What comes through is one of both.
    PossibleValuesParser::new(values.collect::<Vec<_>>()).map(move |typed| {
        aliases.iter().find(|(alias, _)| *alias == typed).map_or(typed, |(_, name)| (*name).to_owned())
    })
}

/// The words of `--metrics`, each with its unit, for completions.
fn metrics() -> impl TypedValueParser<Value = Metric> {
    let words = metric::ALL.map(|about| PossibleValue::new(about.word).help(about.unit));
    // Only words that are read back come through.
    PossibleValuesParser::new(words).try_map(|word| word.parse::<Metric>())
}

fn seconds(text: &str) -> Result<f64, String> {
    let help = "give a number with its unit: 500ms, 30s, 2m, 10us";
    let duration = humantime::parse_duration(text).map_err(|_| help.to_owned())?;
    if duration.is_zero() { Err("must be above zero".into()) } else { Ok(duration.as_secs_f64()) }
}

fn share(text: &str) -> Result<f64, String> {
    let help = "give a percentage or a share: 1% or 0.01";
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let value: f64 = number.trim().parse().map_err(|_| help.to_owned())?;
    if (0.0..1.0).contains(&(value * scale)) { Ok(value * scale) } else { Err(help.into()) }
}

/// A name that is a file name everywhere.
fn baseline_name(text: &str) -> Result<String, String> {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    match !text.is_empty() && text.len() <= 100 && !text.starts_with('.') && text.chars().all(allowed) {
        true => Ok(text.to_owned()),
        false => Err("give a name of letters, digits, -, _ and ., not beginning with a dot: main".into()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    // Groups must have three digits, or a list of sizes would be read as one enormous number:
    // 1000,2000.
    let is_grouped = text.split(['_', ',']).skip(1).all(|group| group.len() == 3);
    let digits: String = text.chars().filter(|letter| !matches!(letter, '_' | ',')).collect();
    match digits.parse() {
        Ok(size) if size > 0 && is_grouped => Ok(size),
        _ => Err("give at least 1: 1,000,000 (commas group thousands); repeat --size for several".into()),
    }
}

fn param(text: &str) -> Result<(String, taskscale_model::params::ParamValue), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() && !value.is_empty() => {
            Ok((name.to_owned(), taskscale_model::params::ParamValue::parse(value)))
        }
        _ => Err("give NAME=VALUE: gc=off".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }

    #[test]
    fn values_are_read_as_people_write_them() {
        assert_eq!((seconds("500ms"), seconds("2m")), (Ok(0.5), Ok(120.0)));
        assert_eq!((share("1%"), share("0.01"), share("0")), (Ok(0.01), Ok(0.01), Ok(0.0)));
        assert_eq!((size("1,000,000"), size("1_000")), (Ok(1_000_000), Ok(1_000)));
        assert_eq!(baseline_name("release-1.2"), Ok("release-1.2".into()));
        for wrong in ["", ".", "..", "../x", "a/b", "a b"] {
            assert!(baseline_name(wrong).is_err(), "{wrong}");
        }
        for wrong in [
            seconds("5").err(),
            seconds("0s").err(),
            share("200%").err(),
            size("0").err(),
            size("1000,2000").err(),
            param("gc").err(),
        ] {
            assert!(wrong.is_some());
        }
        assert!(size("1,2").is_err_and(|why| why.contains("commas group thousands")));
    }
}
