//! Samples that a server gives under load: how they are asked for, and what else they tell.

use serde::{Deserialize, Serialize};

use crate::params::{ParamValue, Params};

/// The workload that can be served.
pub const WORKLOAD: &str = "interp";
/// The parameter that asks for a server.
pub const MODE: &str = "mode";
/// The parameter that says how many requests an open loop sends, in percent of the throughput of
/// the closed loop before it.
pub const RATE: &str = "rate";
/// The rate where a request names none.
pub const RATE_DEFAULT: u64 = 50;

/// How requests reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Each connection sends its next request when its last one is answered.
    Closed,
    /// Requests start at a fixed rate, in percent of the throughput of a closed loop.
    Open { rate: u64 },
}

impl Mode {
    /// The mode that these parameters ask for; `None` where they ask for no server.
    pub fn of(workload: &str, params: &Params) -> Option<Mode> {
        let Some(ParamValue::Word(word)) = params.get(MODE).filter(|_| workload == WORKLOAD) else {
            return None;
        };
        match word.as_str() {
            "http-closed" => Some(Mode::Closed),
            "http-open" => Some(Mode::Open {
                rate: match params.get(RATE) {
                    Some(ParamValue::Integer(rate)) => *rate,
                    _ => RATE_DEFAULT,
                },
            }),
            _ => None,
        }
    }
}

/// What a sample of a server tells beside its times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadRecord {
    /// The server as the probe names it: `hyper 1.11.0`.
    pub server: String,
    pub connections: u64,
    /// Wall time from the first timed request to the last response, as the generator saw it.
    pub wall_ns: u64,
    /// CPU time that the generator used in it.
    pub generator_cpu_ns: u64,
    /// The CPUs on which server and generator were kept; absent where both shared what there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<Pinned>,
    /// Only an open loop has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenRecord>,
}

/// The CPUs of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pinned {
    pub server: u32,
    pub generator: u32,
}

/// What an open loop saw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenRecord {
    /// Requests a second of the closed loop before it, in the same process.
    pub closed_per_s: f64,
    /// Requests a second that were to start.
    pub wanted_per_s: f64,
    /// Responses a second.
    pub achieved_per_s: f64,
    /// Requests that had no response when the last one was to start.
    pub waiting: u64,
    /// Latency from when a request was to start, in nanoseconds, and how often it came. A bucket is
    /// 1 % wide.
    pub latency: Vec<(u64, u64)>,
    /// How late the generator sent what no earlier request held up, in the same form.
    pub late: Vec<(u64, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_from_the_parameters() {
        let mode = |pairs: &[(&str, &str)]| {
            let params = pairs.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::parse(value)));
            Mode::of(WORKLOAD, &params.collect())
        };
        assert_eq!(mode(&[]), None);
        assert_eq!(mode(&[("mode", "inproc")]), None);
        assert_eq!(mode(&[("mode", "http-closed"), ("rate", "25")]), Some(Mode::Closed));
        assert_eq!(mode(&[("mode", "http-open")]), Some(Mode::Open { rate: 50 }));
        assert_eq!(mode(&[("mode", "http-open"), ("rate", "25")]), Some(Mode::Open { rate: 25 }));
    }
}
