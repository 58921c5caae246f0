//! The runtime's own counters (`probes/PROTOCOL.md`, "counters"): what a probe says that it reads,
//! and what it read.

use std::collections::BTreeMap;

use taskscale_model::{
    metric::{Count, Metric},
    missing::{Missing, Reading},
    params::ParamValue,
    protocol::{COLLECTOR, COUNTERS, Description, MAX_INTEGER, MEMORY, ROUGH_BYTES, RunRequest, Sample},
};

/// How often the collector ran.
const COLLECTIONS: &str = "collections";

/// The counters of a description, with the metric that asks for each.
const NAMES: [(&str, Count, Metric); 4] = [
    ("allocations", Count::Allocations, Metric::Allocs),
    ("bytes", Count::Bytes, Metric::Bytes),
    (COLLECTIONS, Count::Collections, Metric::Gc),
    ("pause_ns", Count::PauseNs, Metric::Gc),
];

/// Languages whose memory nobody collects.
const NO_COLLECTOR: [&str; 4] = ["rust", "c++", "swift", "c"];

/// The counters of one probe that are asked for: each is read, or missing with its reason.
pub(crate) struct Counters {
    /// Whether they are those of memory, or of the collector.
    kind: &'static str,
    all: Vec<(&'static str, Count, Result<(), Missing>)>,
}

impl Counters {
    /// What `metrics` ask of a probe that describes itself so.
    pub(crate) fn of(description: &Description, metrics: &[Metric]) -> Self {
        let asked = NAMES.into_iter().filter(|(_, _, metric)| metrics.contains(metric));
        let of = |(name, count, metric): (&'static str, Count, Metric)| {
            let state = match description.counters.get(name) {
                Some(Reading::Value(_)) => Ok(()),
                Some(Reading::Missing(missing)) => Err(missing.clone()),
                None if metric == Metric::Gc => Err(no_collector(description)),
                // Allocations of such a runtime are those of malloc.
                None => return None,
            };
            Some((name, count, state))
        };
        let kind = if metrics.contains(&Metric::Gc) { COLLECTOR } else { MEMORY };
        Counters { kind, all: asked.filter_map(of).collect() }
    }

    /// The bytes alone, within 1 %, where the probe has them so at less cost. Where each object has
    /// to be recorded the bytes of one iteration take 1.3 s (Node, 65,536 entries of a map), and
    /// 0.07 s so.
    pub(crate) fn roughly(mut self, description: &Description) -> Self {
        let has = description.counters.get(ROUGH_BYTES).is_some_and(|reads| reads.value().is_some());
        if has && self.kind == MEMORY && self.all.iter().all(|(_, count, _)| *count == Count::Bytes) {
            self.kind = ROUGH_BYTES;
        }
        self
    }

    /// Whether a probe tells how often the collector of its runtime runs.
    pub(crate) fn tells_collector(description: &Description) -> bool {
        description.counters.get(COLLECTIONS).is_some_and(|collections| collections.value().is_some())
    }

    /// The request that asks for them too, where any is read.
    pub(crate) fn asked(&self, mut request: RunRequest) -> RunRequest {
        if self.all.iter().any(|(_, _, state)| state.is_ok()) {
            request.params.insert(COUNTERS.into(), ParamValue::Word(self.kind.into()));
        }
        request
    }

    /// The counters that are promised and that a sample neither has nor gives a reason for.
    pub(crate) fn broken(&self, sample: &Sample) -> Vec<&'static str> {
        let given = |name: &str| number(sample.extra.get(COUNTERS)?.get(name)?);
        let is_broken = |(name, _, state): &&(&'static str, Count, Result<(), Missing>)| {
            state.is_ok() && given(name).is_none()
        };
        self.all.iter().filter(is_broken).map(|(name, ..)| *name).collect()
    }

    /// By what each counter rose.
    pub(crate) fn rise(&self, sample: &Sample) -> BTreeMap<Count, Result<u64, Missing>> {
        let given = sample.extra.get(COUNTERS);
        let of = |(name, count, state): &(&'static str, Count, Result<(), Missing>)| {
            let value = state.clone().and_then(|()| match given.and_then(|given| number(given.get(name)?)) {
                Some(reading) => reading.as_result().copied().map_err(Clone::clone),
                None => Err(Missing::new(
                    format!(
                        "the probe says that it reads {name:?}, and its sample has no whole number of it"
                    ),
                    "check the probe: taskscale probe check",
                )),
            });
            (*count, value)
        };
        self.all.iter().map(of).collect()
    }
}

/// A whole number that every reader of JSON keeps exact, or a reason.
fn number(given: &serde_json::Value) -> Option<Reading<u64>> {
    let reading = serde_json::from_value::<Reading<u64>>(given.clone()).ok()?;
    reading.value().is_none_or(|value| *value <= MAX_INTEGER).then_some(reading)
}

fn no_collector(description: &Description) -> Missing {
    let language = &description.runtime.language;
    match NO_COLLECTOR.contains(&&**language) {
        true => Missing::new(format!("{language} has no garbage collector"), ""),
        false => Missing::new(
            "the probe reads no counters of its runtime",
            "have it do so: probes/PROTOCOL.md, \"counters\"",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn description(language: &str, counters: serde_json::Value) -> Description {
        let text = json!({
            "protocol": 1,
            "runtime": {"name": "r", "language": language, "version": "1"},
            "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
            "counters": counters,
            "workloads": [],
        });
        serde_json::from_value(text).expect("a description")
    }

    fn sample(extra: serde_json::Value) -> Sample {
        serde_json::from_value(json!({"wall_ns": 1, "cpu_ns": 1, "answer": 1, "extra": extra}))
            .expect("a sample")
    }

    #[test]
    fn what_is_read_is_asked_for_and_the_rest_has_its_reason() {
        let described = description(
            "csharp",
            json!({"bytes": "GC.GetTotalAllocatedBytes", "allocations": {"reason": "not counted"},
                   "collections": "GC.CollectionCount"}),
        );
        let own = Counters::of(&described, &[Metric::Bytes, Metric::Allocs]);
        let rise = own.rise(&sample(json!({"counters": {"bytes": 640}})));
        assert_eq!(rise[&Count::Bytes], Ok(640));
        assert_eq!(rise[&Count::Allocations], Err(Missing::new("not counted", "")));
        let this_time = own.rise(&sample(json!({"counters": {"bytes": {"reason": "too many"}}})));
        assert_eq!(this_time[&Count::Bytes], Err(Missing::new("too many", "")));
        for lie in [
            json!({}),
            json!({"bytes": -1}),
            json!({"bytes": "many"}),
            json!({"bytes": 1.5}),
            json!({"bytes": u64::MAX}),
        ] {
            assert_eq!(own.broken(&sample(json!({"counters": lie}))), ["bytes"]);
        }
        assert_eq!(own.broken(&sample(json!({"counters": {"bytes": {"reason": "no"}}}))), [""; 0]);
        let collector = Counters::of(&described, &[Metric::Gc]);
        let rise = collector.rise(&sample(json!({"counters": {"bytes": 640}})));
        let said = |count| rise[&count].as_ref().unwrap_err().reason.clone();
        assert!(said(Count::Collections).contains("no whole number of it"));
        assert!(said(Count::PauseNs).contains("reads no counters"));
        let request = RunRequest {
            id: 1,
            workload: "nop".into(),
            variant: "v".into(),
            size: 1,
            iterations: 1,
            params: Default::default(),
            seed: 1,
        };
        assert_eq!(own.asked(request.clone()).params.get(COUNTERS), Some(&ParamValue::Word(MEMORY.into())));
        let kind = |own: Counters| own.asked(request.clone()).params.remove(COUNTERS);
        let rough =
            description("javascript", json!({"bytes": "V8", "allocations": "V8", "rough_bytes": "V8"}));
        let of = |described: &Description, metrics: &[Metric]| {
            kind(Counters::of(described, metrics).roughly(described))
        };
        assert_eq!(of(&rough, &[Metric::Bytes]), Some(ParamValue::Word("rough_bytes".into())));
        assert_eq!(of(&rough, &[Metric::Bytes, Metric::Allocs]), Some(ParamValue::Word(MEMORY.into())));
        assert_eq!(of(&described, &[Metric::Bytes]), Some(ParamValue::Word(MEMORY.into())));
        // Nothing is asked of a probe that reads nothing.
        let none = Counters::of(&description("rust", json!({})), &[Metric::Bytes, Metric::Gc]);
        assert_eq!(none.asked(request.clone()), request);
        let rise = none.rise(&sample(json!({})));
        assert_eq!(rise.len(), 2, "malloc's bytes are not in the way");
        assert!(rise[&Count::Collections].as_ref().unwrap_err().reason.contains("rust has no"));
    }
}
