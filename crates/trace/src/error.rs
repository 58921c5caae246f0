//! Why a file cannot be read as a trace.

/// The formats that are recognised, for messages.
pub const KNOWN: &str = "Chrome trace events (JSON; Taskflow, Ray, VizTracer, Node, tracing-chrome ...), TFProf JSON and .tfp \
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
