//! Tells who wrote the events, and which of them are tasks.

use memchr::memmem;

use crate::{bytes::is_numbered, number::Time, tally::Reason};

use super::{
    event::{Event, Text},
    python_waits,
};

/// The writers whose events have a meaning of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// No known writer: all slices are tasks.
    Plain,
    /// Taskflow's `ChromeObserver`.
    Taskflow,
    /// `ray.timeline()`.
    Ray,
    /// VizTracer.
    VizTracer,
    /// Node's `--trace-event-categories`.
    Node,
    /// tokio through `tracing-chrome`.
    TracingChrome,
    /// PyTorch's profiler, written by Kineto.
    PyTorch,
    /// Bazel's `--profile`.
    Bazel,
    /// Our own [`ChromeWriter`](crate::ChromeWriter): spans that another reader has judged.
    Taskscale,
    /// LLVM's time trace: clang's `-ftime-trace`, lld's `--time-trace`. It shows at its first
    /// summary.
    TimeTrace,
}

/// Texts that show the writer in the first block of a file.
const MARKS: [(&[u8], Flavour); 19] = [
    (b"\"process_name\",\"args\":{\"name\":\"taskscale\"}", Flavour::Taskscale),
    (b"\"ChromeObserver\"", Flavour::Taskflow),
    (b"\"cat\": \"task::", Flavour::Ray),
    (b"\"cat\":\"task::", Flavour::Ray),
    (b"\"viztracer_metadata\"", Flavour::VizTracer),
    (b"\"cat\":\"fee\"", Flavour::VizTracer),
    (b"\"cat\": \"fee\"", Flavour::VizTracer),
    (b"\"cat\":\"node,node.", Flavour::Node),
    (b"\"cat\":\"node.", Flavour::Node),
    (b"\"name\":\"runtime.spawn\"", Flavour::TracingChrome),
    (b"\"deviceProperties\"", Flavour::PyTorch),
    (b"\"cat\": \"cpu_op\"", Flavour::PyTorch),
    (b"\"cat\":\"cpu_op\"", Flavour::PyTorch),
    (b"\"PyTorch Profiler", Flavour::PyTorch),
    (b"\"cat\":\"build phase marker\"", Flavour::Bazel),
    (b"\"cat\": \"build phase marker\"", Flavour::Bazel),
    (b"\"cat\":\"action processing\"", Flavour::Bazel),
    (b"\"cat\": \"action processing\"", Flavour::Bazel),
    (b"\"name\":\"Total ExecuteCompiler\"", Flavour::TimeTrace),
];

impl Flavour {
    /// Tells the writer by the first block of the file.
    pub fn of(block: &[u8]) -> Self {
        MARKS
            .iter()
            .find(|(mark, _)| memmem::find(block, mark).is_some())
            .map_or(Flavour::Plain, |mark| mark.1)
    }

    /// Returns the format's name in the account.
    pub fn format(self) -> &'static str {
        match self {
            Flavour::Plain | Flavour::Taskscale => "chrome",
            Flavour::Taskflow => "taskflow",
            Flavour::Ray => "ray",
            Flavour::VizTracer => "viztracer",
            Flavour::Node => "node",
            Flavour::TracingChrome => "tracing-chrome",
            Flavour::PyTorch => "pytorch",
            Flavour::Bazel => "bazel",
            Flavour::TimeTrace => "clang",
        }
    }

    /// Tells whether every complete event without arguments is a task, whatever its name and
    /// category, and nothing but its times and its name is to be read.
    pub fn refuses_nothing(self) -> bool {
        use Flavour::{Plain, Taskflow, Taskscale, TimeTrace};
        matches!(self, Plain | Taskflow | Taskscale | TimeTrace)
    }

    /// Tells whether no asynchronous event is a task.
    pub fn refuses_asynchronous(self) -> bool {
        matches!(self, Flavour::Plain | Flavour::TimeTrace)
    }

    /// Tells whether a flow goes from where a task is submitted to the task. PyTorch's others lead
    /// from forward operators to backward ones.
    pub fn submits(self, event: &Event<'_>) -> bool {
        self != Flavour::PyTorch || matches!(event.cat.raw, b"ac2g" | b"async_cpu_to_gpu")
    }

    /// Tells whether flows end where their tasks begin. Of several slices around the end of a flow
    /// some are no tasks, and it does not point to the others.
    pub fn submits_to_starts(self) -> bool {
        self == Flavour::PyTorch
    }

    /// Tells whether names made of two numbers are the writer's own and group nothing.
    #[inline]
    pub fn drops_numbers(self) -> bool {
        self == Flavour::Taskflow
    }

    /// What a reader of the digest must know of the writer's tasks and workers.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Flavour::Bazel => Some(
                "Bazel: a task is an action; loading, analysis and steps of actions are left out (--cat)",
            ),
            Flavour::VizTracer => Some(
                "VizTracer: a task is a call. A pool's thread without work and a main thread that waits for others \
                 are idle; a wait in `with lock` is no call and looks like work. --name FILE.py takes only the \
                 functions of a file",
            ),
            _ => None,
        }
    }

    /// The CPU time of an event with a duration, where the writer tells it. A duration of 0 by the
    /// CPU clock tells nothing: some writers put it everywhere.
    #[inline(always)]
    pub fn cpu_ns(self, event: &Event<'_>) -> Option<u64> {
        if self == Flavour::VizTracer {
            return python_waits::cpu_ns(event);
        }
        match event.cpu {
            Time::Ns(ns) if ns > 0 => Some(ns as u64),
            _ => None,
        }
    }

    /// Says why an event with a beginning and an end is not a task, where it is not.
    #[inline(always)]
    pub fn refuses(self, event: &Event<'_>) -> Option<Reason> {
        match self {
            Flavour::Taskflow | Flavour::Taskscale | Flavour::VizTracer => None,
            Flavour::Plain | Flavour::TimeTrace => plain(event),
            Flavour::PyTorch => pytorch(event),
            Flavour::Bazel => bazel(event.cat.raw),
            Flavour::Ray => ray(event.cat.raw),
            Flavour::Node => node(event),
            Flavour::TracingChrome => tokio(event),
        }
    }

    /// Returns the name by which the digest sees the event.
    #[inline(always)]
    pub fn name(self, name: Text<'_>) -> Text<'_> {
        if self.drops_numbers() && name.numbered { Text::default() } else { name }
    }
}

/// Judges an event of no known writer. An asynchronous one names the thread on which it began and
/// overlaps others of that thread. LLVM's time trace ends with sums over all spans of a name, each
/// on a thread of its own.
#[inline(always)]
fn plain(event: &Event<'_>) -> Option<Reason> {
    if event.phase == b'b' {
        return Some(Reason::Asynchronous);
    }
    let is_sum = event.name.raw.starts_with(b"Total ") && memmem::find(event.args, b"\"avg ms\"").is_some();
    is_sum.then_some(Reason::Summary)
}

/// Judges an event of PyTorch's profiler. Operators on CPU threads and what runs on the streams of
/// devices are tasks. Annotations and Python's calls lie around operators, and calls into the
/// driver inside them.
fn pytorch(event: &Event<'_>) -> Option<Reason> {
    match event.cat.raw {
        _ if event.name.raw.starts_with(b"ProfilerStep#") => Some(Reason::Annotation),
        b"cpu_op" | b"kernel" | b"gpu_memcpy" | b"gpu_memset" | b"hpu_op" | b"mtia_ccp_events" => None,
        // PyTorch 1.8 to 1.11.
        b"Operator" | b"Kernel" | b"Memcpy" | b"Memset" => None,
        b"user_annotation" | b"gpu_user_annotation" | b"" => Some(Reason::Annotation),
        b"python_function" => Some(Reason::PythonCall),
        b"Trace" | b"overhead" => Some(Reason::Profiler),
        _ => Some(Reason::DriverCall),
    }
}

/// Judges an event of Bazel by its category. An action lies on the thread that carries it out;
/// its steps lie inside it, and loading and analysis before it. The critical path repeats actions.
fn bazel(cat: &[u8]) -> Option<Reason> {
    match cat {
        b"action processing" => None,
        b"critical path component" => Some(Reason::Summary),
        _ => Some(Reason::BuildStep),
    }
}

/// Judges an event of Ray. `task::f` is a whole attempt. `task:execute` and the like lie inside it
/// and would count its time twice.
fn ray(cat: &[u8]) -> Option<Reason> {
    if cat.starts_with(b"task::") {
        None
    } else if cat.starts_with(b"task:") {
        Some(Reason::Phase)
    } else if cat == b"submit_task" {
        Some(Reason::Driver)
    } else {
        Some(Reason::UserEvent)
    }
}

/// Judges an event of tokio. `B` and `E` are polls (and the drop of the future). `b` and `e` lie
/// around a task's whole life, from spawn to drop. The workers of the multi-threaded runtime are
/// blocking tasks themselves, around all others; only `args` tells them from a user's.
fn tokio(event: &Event<'_>) -> Option<Reason> {
    if event.name.raw != b"runtime.spawn" {
        Some(Reason::OtherSpan)
    } else if event.phase == b'b' {
        Some(Reason::Lifetime)
    } else if event.cat.raw == b"tokio::task::blocking" {
        let users = !event.args.is_empty() && memmem::find(event.args, b"::worker::Launch::launch").is_none();
        (!users).then_some(Reason::WorkerLife)
    } else {
        None
    }
}

/// Judges an event of Node. Slices named `..._CALLBACK` are runs of a callback; the bare name spans
/// the life of the resource. What runs in the thread pool (compression, hashing, add-ons) lies on
/// its threads.
fn node(event: &Event<'_>) -> Option<Reason> {
    let cat = event.cat.raw;
    if memmem::find(cat, b"node.async_hooks").is_some() {
        return (!event.name.raw.ends_with(b"_CALLBACK")).then_some(Reason::Lifetime);
    }
    if matches!(event.phase, b'B' | b'E') && memmem::find(cat, b"node.threadpoolwork.sync").is_some() {
        return None;
    }
    if memmem::find(cat, b"node.environment").is_some() {
        return Some(Reason::LoopPhase);
    }
    let engine = memmem::find(cat, b"node").is_some() || memmem::find(cat, b"v8").is_some();
    engine.then_some(Reason::EngineEvent)
}

/// Returns a name of Taskflow, empty where it is `<worker>_<index>`, which Taskflow makes up. Such
/// names are unique and group nothing.
pub fn without_number(name: &[u8]) -> &[u8] {
    if is_numbered(name, 0, name.len()) { b"" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_names_are_those_of_taskflow_only() {
        for (name, numbered) in [
            ("0_1", true),
            ("12_345", true),
            ("0_", false),
            ("_1", false),
            ("1", false),
            ("a_1", false),
            ("1_2_3", false),
            ("0_1_", false),
            ("a", false),
            ("0_123456789012345", false),
        ] {
            assert_eq!(without_number(name.as_bytes()).is_empty(), numbered, "{name}");
        }
    }

    #[test]
    fn operators_and_kernels_are_tasks_of_pytorch() {
        let judge = |cat: &'static [u8], name: &'static [u8]| {
            let text = |raw| Text { raw, ..Text::default() };
            pytorch(&Event { cat: text(cat), name: text(name), phase: b'X', ..Event::default() })
        };
        assert_eq!(judge(b"cpu_op", b"aten::mm"), None);
        assert_eq!(judge(b"kernel", b"gemm"), None);
        assert_eq!(judge(b"gpu_memcpy", b"Memcpy HtoD"), None);
        assert_eq!(judge(b"cpu_op", b"ProfilerStep#3"), Some(Reason::Annotation));
        assert_eq!(judge(b"python_function", b"a.py(3): f"), Some(Reason::PythonCall));
        assert_eq!(judge(b"cuda_runtime", b"cudaLaunchKernel"), Some(Reason::DriverCall));
        assert_eq!(judge(b"cuda_sync", b"Stream Sync"), Some(Reason::DriverCall));
        assert_eq!(judge(b"Trace", b"PyTorch Profiler (0)"), Some(Reason::Profiler));
    }

    #[test]
    fn one_colon_is_a_phase_and_two_are_a_task() {
        assert_eq!(ray(b"task::f"), None);
        assert_eq!(ray(b"task:execute"), Some(Reason::Phase));
        assert_eq!(ray(b"submit_task"), Some(Reason::Driver));
        assert_eq!(ray(b"my own"), Some(Reason::UserEvent));
    }
}
