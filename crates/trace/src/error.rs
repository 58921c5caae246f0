//! Why a file cannot be read as a trace.

/// The formats that are recognised, for messages.
pub const KNOWN: &str = "Chrome trace events (JSON; Taskflow, Ray, VizTracer, Node, tracing-chrome ...), TFProf JSON and .tfp \
                         of Taskflow, Dask task streams (JSON), ninja logs";

/// Why nothing could be read. Defects of single events are no errors: they are counted in the
/// account.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// No byte but white space.
    #[error("the input is empty; was the tracer stopped before it wrote its file?")]
    Empty,
    /// None of the known formats.
    #[error("not a task trace: {seen}. Known formats: {KNOWN}")]
    NotATrace {
        /// What was seen instead, with the remedy where there is one.
        seen: String,
    },
    /// The input failed.
    #[error("cannot read the input after {bytes} bytes: {source}")]
    Io {
        /// Bytes read before.
        bytes: u64,
        /// What the system said.
        source: std::io::Error,
    },
}
