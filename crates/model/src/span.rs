//! A span is one task execution on one worker. Trace readers and live observers send spans, and
//! digests are computed from them.

/// How deep a span lies inside other spans of its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Depth {
    /// The source does not say. The depth follows from containment where the order of spans allows
    /// it.
    #[default]
    Unknown,
    /// The source says it. 0 is the outermost.
    Level(u16),
}

/// The times of a digest lie within this of their origin, 146 years on either side. So no
/// difference of two of them overflows.
pub const FARTHEST_NS: i64 = i64::MAX / 2;

/// One task execution.
///
/// ```
/// use taskscale_model::span::Span;
/// let span = Span { worker: 3, start_ns: 10, end_ns: 25, name: b"load", ..Span::default() };
/// assert_eq!((span.ready_ns, span.cpu_ns), (None, None));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span<'a> {
    /// A dense index of the worker that executed the task, in the order in which workers are first
    /// seen.
    pub worker: u32,
    /// Nanoseconds from an origin that all spans of one source share; may be negative.
    pub start_ns: i64,
    /// On the same clock as the start, and not before it.
    pub end_ns: i64,
    /// As the source gives it, not always UTF-8; empty where the source gives none.
    pub name: &'a [u8],
    pub depth: Depth,
    /// When the task became ready to run, on the same clock; `None` where the source does not tell
    /// with the span. A time behind the start counts as the start.
    pub ready_ns: Option<i64>,
    /// The time in which the worker's thread ran on a CPU between start and end, what lies inside
    /// included; `None` where the source does not tell. More than the duration counts as that.
    /// [`WAITS`], [`WAITS_FOR_OTHERS`] and [`WAITS_FOR_WORK`] stand for calls that are no tasks.
    pub cpu_ns: Option<u64>,
}

/// Stands for the CPU time of a call that does nothing but wait. Inside a task it is time off the
/// CPU, and by itself it is no work.
pub const WAITS: u64 = u64::MAX - 3;
/// As [`WAITS_FOR_WORK`], of a worker that waits for other workers.
pub const WAITS_FOR_OTHERS: u64 = u64::MAX - 2;
/// Stands for the CPU time of a call in which the worker waits for something to do: the time is
/// idle, whatever calls lie around it.
pub const WAITS_FOR_WORK: u64 = u64::MAX - 1;

/// Receives spans in the order in which the source has them.
pub trait SpanSink {
    /// Receives one span. It is called millions of times a second and must not allocate.
    fn span(&mut self, span: &Span<'_>);

    /// Receives when a task became ready and when it started, apart from its span, which has no
    /// `ready_ns` and comes before or behind. Sources have both in different places.
    fn ready(&mut self, _ready_ns: i64, _start_ns: i64) {}

    /// Receives an event of a flow, which tells a ready time once its tasks are known.
    fn flow(&mut self, _event: &FlowEvent) {}
}

/// An event of a flow: an arrow begins or ends here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowEvent {
    /// Equal for all events of a flow.
    pub flow: u64,
    /// Equal for all spans and flow events of a thread.
    pub track: u64,
    /// On the clock of the source, whose origin may not be known yet.
    pub ts: i64,
    pub part: FlowPart,
}

/// What an event of a flow is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowPart {
    /// The beginning: the task at the other end is submitted.
    Begin,
    /// An end in the task around it, which is a beginning too.
    Step,
    /// An end in the task around it.
    In,
    /// An end in the task that starts with it.
    At,
    /// An end before the next task of its thread.
    Before,
}

impl<F: FnMut(&Span<'_>)> SpanSink for F {
    fn span(&mut self, span: &Span<'_>) {
        self(span);
    }
}

/// What a source held and what of it became spans. Nothing is dropped silently.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Account {
    /// The recognised format: `chrome`, `tfprof`, `tfp`, `ray`, `dask`, `ninja`, ...
    pub format: String,
    /// Bytes read, after unpacking.
    pub bytes: u64,
    /// Events of any kind.
    pub seen: u64,
    /// Events that became spans (a `B` with its `E` is two events and one span).
    pub counted: u64,
    /// Events that were not counted, by reason, most frequent first.
    pub dropped: Vec<Dropped>,
    /// The number of workers seen.
    pub workers: u64,
    /// The step of the source's clock in nanoseconds, as far as its times show it; 0 where none was
    /// seen.
    pub clock_resolution_ns: u64,
    /// Arrows of flows whose task was not found, so that its ready time is missing.
    #[serde(default)]
    pub untold: u64,
    /// What a reader of the digest must know: the file ends in the middle of an event, the source
    /// has no workers, ...
    pub notes: Vec<String>,
}

/// Events that were seen and not counted.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dropped {
    /// Why, in a few words: `not a task (metadata)`, `no end`, `negative duration`.
    pub reason: String,
    pub events: u64,
}
