//! `bytes`: a stream of `size` bytes, read from its start to its end and summed up.
//!
//! | module | holds |
//! |---|---|
//! | [`sums`] | what is summed up, and the ways of looking at a slice |
//! | [`source`] | where bytes come from, and a GET over a plain socket |
//! | [`plain`] | the ways of the standard library, and the floors, on the calling thread |
//! | [`map`] | a file in memory |
//! | [`tokio`] | the ways of tokio and hyper |

mod map;
mod plain;
mod source;
mod sums;
#[cfg(test)]
mod tests;
mod tokio;

use std::io;

use serde_json::{Value, json};

use self::{
    source::Source,
    sums::{Bare, Counted, Fnv, Sum, Sum8},
};
use crate::sdk::{Param, Run, Timing, Variant, Workload};

/// The workload `bytes` with the ways of `runtime`; `None` where it would repeat another's. The
/// answer of an iteration is the sum of the bytes.
pub fn workload(runtime: &str) -> Option<Workload> {
    let variants = match runtime {
        "threads" => plain::variants(),
        "tokio" => tokio::variants(),
        _ => return None,
    };
    let word = |name, choices: &'static [&'static str], help| Param {
        name,
        default: json!(choices[0]),
        choices,
        help,
    };
    let params = vec![
        word("source", &["file", "http"], "where bytes come from: a file, or a server over loopback"),
        word("mode", &["sum8", "fnv", "none"], "the sum modulo 256, FNV-1a, or bytes that nobody looks at"),
        Param { name: "chunk", default: json!(65_536), choices: &[], help: "bytes of a buffer" },
    ];
    Some(Workload { name: "bytes", params, variants })
}

/// A way of reading a stream.
trait Way: Send + Sync + 'static {
    /// Whether it copies from memory, which is filled beforehand.
    const FROM_MEMORY: bool = false;

    /// Reads all of it once.
    fn pass<S: Sum>(&self, from: &Source) -> io::Result<S>;
}

/// A variant that reads in this way. `only` limits its parameters.
fn variant(name: &str, note: &str, only: Value, way: impl Way) -> Variant {
    let mut about = json!({"only": only, "note": note});
    // A call of the kernel for each byte takes 0.1 to 0.3 us.
    if name.starts_with("read(1)/") {
        about["max_size"] = json!(1 << 20);
    }
    Variant {
        name: name.into(),
        creates_task: false,
        about,
        perform: Box::new(move |run| perform(run, &way)),
    }
}

/// Both sums, of a file.
fn of_file() -> Value {
    json!({"source": ["file"], "mode": ["sum8", "fnv"]})
}

fn perform(run: &Run, way: &impl Way) -> Result<Timing, String> {
    let mode: String = run.param("mode");
    match (mode.as_str(), run.param("verify")) {
        ("sum8", false) => timed::<Sum8, _>(run, way),
        ("sum8", true) => timed::<Counted<Sum8>, _>(run, way),
        ("fnv", false) => timed::<Fnv, _>(run, way),
        ("fnv", true) => timed::<Counted<Fnv>, _>(run, way),
        (_, false) => timed::<Bare, _>(run, way),
        (_, true) => timed::<Counted<Bare>, _>(run, way),
    }
}

fn timed<S: Sum, W: Way>(run: &Run, way: &W) -> Result<Timing, String> {
    let source = Source::of(run, W::FROM_MEMORY)?;
    let (mut failed, mut executed) = (None, 0);
    let mut timing = run.time(|_| match way.pass::<S>(&source) {
        Ok(sum) => {
            executed += sum.executed().unwrap_or_default();
            sum.value()
        }
        Err(why) => {
            failed.get_or_insert(why);
            0
        }
    });
    match failed {
        Some(why) => Err(format!("{source} cannot be read: {why}")),
        None => {
            if run.param("verify") {
                timing.extra.insert("executed", executed.into());
            }
            Ok(timing)
        }
    }
}
