//! One file per subcommand, each with a function of its name.

pub mod config;
pub mod digest;
pub mod generate;
pub mod list;
pub mod probe;
pub mod report;
pub mod run;
