//! One file per subcommand, each with a function of its name.

pub mod bytes;
pub mod compare;
pub mod config;
pub mod digest;
pub mod doctor;
pub mod generate;
pub mod guide;
pub mod list;
pub mod merge;
pub mod new_probe;
pub mod probe;
pub mod report;
pub mod run;
pub mod setup;
