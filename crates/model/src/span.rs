//! A span: one task execution on one worker. What trace readers and live observers send, and
//! digests are made of.

/// How deep a span lies inside others of its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The source does not say; it follows from containment, where the order of spans allows.
    Unknown,
    /// The source says: 0 is the outermost.
    Level(u16),
}

/// One task execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span<'a> {
    /// The worker that executed it: a dense index, in the order in which workers are first seen.
    pub worker: u32,
    /// Start, in nanoseconds from an origin that all spans of one source share; may be negative.
    pub start_ns: i64,
    /// End, on the same clock, not before the start.
    pub end_ns: i64,
    /// Its name, as the source gives it (not always UTF-8); empty where there is none.
    pub name: &'a [u8],
    /// Whether it lies inside another span of its worker.
    pub depth: Depth,
}

/// Receives spans in whatever order the source has them.
pub trait SpanSink {
    /// One span. Called millions of times a second: it must not allocate.
    fn span(&mut self, span: &Span<'_>);
}

impl<F: FnMut(&Span<'_>)> SpanSink for F {
    fn span(&mut self, span: &Span<'_>) {
        self(span);
    }
}

/// What a source held and what of it became spans, so that nothing is dropped silently.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Account {
    /// Format, as recognised: `chrome`, `tfprof`, `tfp`, `ray`, `dask`, `ninja`, ...
    pub format: String,
    /// Bytes read.
    pub bytes: u64,
    /// Events of any kind that were seen.
    pub seen: u64,
    /// Events that became spans (a `B` with its `E` is two events and one span).
    pub counted: u64,
    /// What was not counted, with its reason, most first.
    pub dropped: Vec<Dropped>,
    /// Workers seen.
    pub workers: u64,
    /// The step of the source's clock in nanoseconds, as far as its times show; 0 where nothing was
    /// seen.
    pub clock_resolution_ns: u64,
    /// What a reader of the digest must know: the file ends in the middle of an event, the source
    /// has no workers, ...
    pub notes: Vec<String>,
}

/// Events that were seen and not counted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Dropped {
    /// Why, in a few words: `not a task (metadata)`, `no end`, `negative duration`.
    pub reason: String,
    /// How many.
    pub events: u64,
}
