//! Streaming readers of task traces: they take bytes and give spans, in constant memory.
//!
//! ```
//! let file = br#"[{"name":"parse","ph":"X","pid":1,"tid":2,"ts":10,"dur":2.5}]"#;
//! let mut busy_ns = 0;
//! let mut sink = |span: &taskscale_model::span::Span<'_>| busy_ns += span.end_ns - span.start_ns;
//! let account = taskscale_trace::read(&file[..], &taskscale_trace::Options::default(), &mut sink)?;
//! assert_eq!((busy_ns, account.format.as_str(), account.counted), (2_500, "chrome", 1));
//! # Ok::<(), taskscale_trace::TraceError>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`options`] | what a user may say, and the origin of times |
//! | [`mod@read`] | the door: formats, [`Reader`] for one or several files |
//! | `format` | recognition of formats, and of files that are no traces |
//! | [`error`] | why a file cannot be read |
//! | [`workers`], `names` | from the ids of a source to dense worker indices, and their names |
//! | [`sort`] | spans of any order, sorted outside memory |
//! | [`writer`] | spans out again, as a Chrome trace that Perfetto shows in full |
//! | `chrome` | Chrome trace events and the tools that write them |
//! | `tfprof`, `tfp` | Taskflow's profiler, JSON of 3.x and binary of 4.x |
//! | `dask`, `ray`, `ninja` | Dask task streams, Ray's lists of tasks, ninja logs |
//! | [`unpack`] | gzip and zstd data, unpacked while they are read |
//! | `window`, `stream`, `bytes`, `json`, `number`, `tally` | what the readers share |

mod bytes;
mod chrome;
mod dask;
pub mod error;
mod format;
mod json;
mod names;
mod ninja;
mod number;
pub mod options;
mod ray;
pub mod read;
pub mod sort;
mod stream;
mod tally;
mod tfp;
mod tfprof;
pub mod unpack;
mod window;
pub mod workers;
pub mod writer;

pub use chrome::Told;
pub use error::TraceError;
pub use options::{Options, Unit};
pub use read::{Reader, read};
pub use sort::Sorter;
pub use workers::WorkerTable;
pub use writer::ChromeWriter;
