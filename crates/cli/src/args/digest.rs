//! The words of `taskscale digest` and `taskscale merge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use clap_complete::ArgValueCompleter as Files;

use crate::complete;

/// `taskscale digest`.
#[derive(Debug, Args)]
pub struct DigestArgs {
    /// The traces; - is standard input
    #[arg(value_name = "TRACE", required = true, add = Files::new(complete::traces))]
    pub traces: Vec<PathBuf>,
    /// Number of workers, where some of them never ran [default: those seen]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub workers: Option<u32>,
    /// Count only events whose category holds this text
    #[arg(long, value_name = "TEXT")]
    pub cat: Option<String>,
    /// Count only events whose name holds this text
    #[arg(long, value_name = "TEXT")]
    pub name: Option<String>,
    /// The unit of a Chrome trace's times, where it is not microseconds
    #[arg(long, value_enum, value_name = "UNIT")]
    pub unit: Option<TimeUnit>,
    /// Start every file at time 0: for files whose clocks have nothing to do with each other
    #[arg(long)]
    pub align: bool,
    /// Also write what was counted as a clean Chrome trace to this new file
    #[arg(long, value_name = "OUT", conflicts_with_all = ["partial", "by"])]
    pub chrome: Option<PathBuf>,
    /// Also write the sums to this file, at most 16 KB of them, for taskscale merge. Each trace is
    /// a source with its own clock
    #[arg(long, value_name = "OUT")]
    pub partial: Option<PathBuf>,
    #[command(flatten)]
    pub source: SourceArgs,
    /// One digest for each of these, the worst first, and the whole. Each trace is a source with
    /// its own clock
    #[arg(long, value_enum, value_name = "LABEL")]
    pub by: Option<By>,
    /// How to print the digest
    #[arg(long, short, value_enum, default_value_t = DigestFormat::Text)]
    pub format: DigestFormat,
}

/// What the sources of partial sums are called.
#[derive(Debug, Clone, Args)]
pub struct SourceArgs {
    /// With --partial or --by, the host that the traces are of [default: the name of each file]
    #[arg(long, value_name = "NAME")]
    pub host: Option<String>,
    /// With --partial or --by, the stage of the program that they are of
    #[arg(long, value_name = "NAME")]
    pub stage: Option<String>,
    /// With --partial or --by, the rank of the process that they are of
    #[arg(long, value_name = "N")]
    pub rank: Option<u64>,
}

/// `taskscale merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Files that taskscale digest --partial or taskscale merge -o wrote, one or more partials in
    /// each; - is standard input
    #[arg(value_name = "PARTIAL", required = true, add = Files::new(complete::partials))]
    pub partials: Vec<PathBuf>,
    /// Write the merged sums to this file, if all files could be read
    #[arg(long, short, value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// One digest for each of these, the worst first, and the whole
    #[arg(long, value_enum, value_name = "LABEL")]
    pub by: Option<By>,
    /// How to print the digest
    #[arg(long, short, value_enum, default_value_t = DigestFormat::Text)]
    pub format: DigestFormat,
}

/// What partial sums are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    Host,
    Stage,
    Rank,
}

/// The unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimeUnit {
    Ns,
    Us,
    Ms,
    S,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DigestFormat {
    /// At most 2,048 bytes for a terminal
    Text,
    /// One object of schema taskscale.digest/1
    Json,
    /// For a pull request
    Md,
    /// One self-contained page
    Html,
}
