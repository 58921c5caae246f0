//! Why a file cannot be read as a trace.

/// The formats that are recognised, for messages.
pub const KNOWN: &str = "Chrome trace events (JSON; Taskflow, Ray, VizTracer, Node, tracing-chrome, PyTorch, Bazel, clang ...), TFProf JSON and .tfp \
                         of Taskflow, Dask task streams (JSON), ninja logs";

/// Why nothing could be read. Defects of single events are no errors: the account counts them.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The input holds nothing but white space.
    #[error("the input is empty; was the tracer stopped before it wrote its file?")]
    Empty,
    /// The input is of no known format.
    #[error("not a task trace: {seen}. Known formats: {KNOWN}")]
    NotATrace {
        /// What was seen, with the remedy where there is one.
        seen: String,
    },
    /// More than half of the events are malformed.
    #[error("no trace, or one that is broken: {malformed} of {seen} events are malformed; {why}")]
    Malformed {
        malformed: u64,
        seen: u64,
        /// The place of the first of them in the unpacked input and what stands there, and what is
        /// wrong with the times of others.
        why: String,
    },
    /// All tasks lie inside others by what the source says, and none of these is there.
    #[error(
        "no trace, or one that is broken: each of its {seen} tasks is said to lie inside another, and there is no \
         other; it is damaged, or was cleared while these ran"
    )]
    NoOutermost { seen: u64 },
    /// The times of most events are of another clock than those of the first ones.
    #[error(
        "two clocks in one file: {counted} events lie {distance} from {others} others, and no window holds both. \
         Write each clock's events into a file of its own, or choose those of one by --cat or --name"
    )]
    TwoClocks {
        /// Events on the clock of the first one.
        counted: u64,
        /// Events on another clock.
        others: u64,
        /// The time between the two groups.
        distance: String,
    },
    /// The input is packed and could not be unpacked.
    #[error("no trace could be unpacked: {trouble}")]
    Packed {
        /// What is wrong with the packed data, with the remedy where there is one.
        trouble: String,
    },
    /// Reading the input failed.
    #[error("cannot read the input after {bytes} bytes: {source}")]
    Io {
        /// Bytes read before the failure.
        bytes: u64,
        source: std::io::Error,
    },
}
