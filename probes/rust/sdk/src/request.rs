//! A `run` request, checked against the description: every field present and of its kind, every parameter declared.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::describe::{Param, Probe, Variant, Workload};

/// Seeds end here, so that every JSON reader keeps them exact (JavaScript's numbers do).
pub const MAX_SEED: u64 = (1 << 53) - 1;

/// What a `run` request asks for.
#[derive(Debug, Clone)]
pub struct Run {
    /// To be copied into the sample.
    pub id: u64,
    /// How many tasks (or steps: the workload says which); at least 1.
    pub size: u64,
    /// How often the workload is done inside the one timed part; at least 1.
    pub iterations: u64,
    /// At most [`MAX_SEED`].
    pub seed: u64,
    /// Whether every task's execution is to be counted by what it did. Time is not kept.
    pub verify: bool,
    /// Whether the share of creation is to be told.
    pub phases: bool,
    pub(super) params: BTreeMap<String, Value>,
}

impl Run {
    /// The same with one iteration: for a workload that sets each iteration up untimed and adds up their timings
    /// ([`Timing::add`](super::Timing::add)).
    pub fn once(&self) -> Run {
        Run { iterations: 1, ..self.clone() }
    }

    /// A declared parameter that is an integer.
    ///
    /// # Panics
    /// Where the workload declares no such parameter: a mistake in the probe, which the reply then names.
    pub fn integer(&self, name: &str) -> u64 {
        self.params
            .get(name)
            .and_then(Value::as_u64)
            .unwrap_or_else(|| panic!("no integer parameter {name:?} declared"))
    }

    /// A declared parameter that is a word.
    ///
    /// # Panics
    /// As [`Run::integer`].
    pub fn word(&self, name: &str) -> &str {
        self.params
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_else(|| panic!("no word parameter {name:?} declared"))
    }

    /// A declared parameter that is a flag.
    ///
    /// # Panics
    /// As [`Run::integer`].
    pub fn flag(&self, name: &str) -> bool {
        self.params
            .get(name)
            .and_then(Value::as_bool)
            .unwrap_or_else(|| panic!("no flag parameter {name:?} declared"))
    }
}

impl Probe {
    /// Finds what `message` asks for, or says why it cannot be done.
    pub fn request(&self, message: &Map<String, Value>) -> Result<(&Variant, Run), String> {
        let name = text(message, "workload")?;
        let workload = named(&self.workloads, name, |workload| &workload.name, "workload")?;
        let name = text(message, "variant")?;
        let variant = named(&workload.variants, name, |variant| &variant.name, "variant")?;
        let size = at_least_one(message, "size")?;
        if let Some(max_size) = variant.max_size.filter(|max_size| size > *max_size) {
            return Err(format!(
                "size {size} is above {max_size}, the most that variant {:?} can bear",
                variant.name
            ));
        }
        let seed = integer(message, "seed")?;
        if seed > MAX_SEED {
            return Err(format!("seed {seed} is above {MAX_SEED} (2^53 - 1)"));
        }
        let empty = Map::new();
        let given = match message.get("params") {
            None => &empty,
            Some(Value::Object(given)) => given,
            Some(other) => return Err(format!("params is {other}, not an object")),
        };
        let run = Run {
            id: integer(message, "id")?,
            size,
            iterations: at_least_one(message, "iterations")?,
            seed,
            verify: reserved(given, "verify")?,
            phases: reserved(given, "phases")?,
            params: params(workload, variant, given)?,
        };
        Ok((variant, run))
    }
}

/// All declared parameters, with the values given or else their defaults.
fn params(
    workload: &Workload,
    variant: &Variant,
    given: &Map<String, Value>,
) -> Result<BTreeMap<String, Value>, String> {
    let mut values = BTreeMap::new();
    for (name, value) in given.iter().filter(|(name, _)| !["verify", "phases"].contains(&name.as_str())) {
        let param = named(&workload.params, name, |param| &param.name, "parameter")?;
        if !param.takes(value) {
            return Err(format!("parameter {name:?} cannot be {value}; it is {}", param.kind()));
        }
        values.insert(name.clone(), value.clone());
    }
    for param in &workload.params {
        let only = variant.only.iter().find(|(name, _)| *name == param.name).map(|(_, allowed)| allowed);
        let default = match only {
            Some(allowed) if !allowed.contains(&param.default) => allowed.first().unwrap_or(&param.default),
            _ => &param.default,
        };
        let value = values.entry(param.name.clone()).or_insert_with(|| default.clone());
        if let Some(allowed) = only.filter(|allowed| !allowed.contains(value)) {
            let (name, allowed) = (&param.name, listed(allowed));
            return Err(format!(
                "variant {:?} cannot be run with {name} {value}, only with {allowed}",
                variant.name
            ));
        }
    }
    Ok(values)
}

impl Param {
    fn takes(&self, value: &Value) -> bool {
        let kind = match self.default {
            Value::Bool(_) => value.is_boolean(),
            Value::Number(_) => value.is_u64(),
            _ => value.is_string(),
        };
        kind && (self.choices.is_empty() || self.choices.contains(value))
    }

    fn kind(&self) -> String {
        match self.default {
            _ if !self.choices.is_empty() => format!("one of {}", listed(&self.choices)),
            Value::Bool(_) => "true or false".to_owned(),
            Value::Number(_) => "an integer from 0 to 2^64 - 1".to_owned(),
            _ => "a word".to_owned(),
        }
    }
}

fn named<'a, T>(
    all: &'a [T],
    name: &str,
    name_of: impl Fn(&T) -> &String,
    what: &str,
) -> Result<&'a T, String> {
    all.iter().find(|one| name_of(one) == name).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|one| name_of(one).as_str()).collect();
        format!("unknown {what} {name:?}; known here: {}", names.join(", "))
    })
}

fn field<'a>(message: &'a Map<String, Value>, name: &str) -> Result<&'a Value, String> {
    message.get(name).ok_or_else(|| format!("the request has no field {name:?}"))
}

fn text<'a>(message: &'a Map<String, Value>, name: &str) -> Result<&'a str, String> {
    let value = field(message, name)?;
    value.as_str().ok_or_else(|| format!("{name} is {value}, not a string"))
}

fn integer(message: &Map<String, Value>, name: &str) -> Result<u64, String> {
    let value = field(message, name)?;
    value.as_u64().ok_or_else(|| format!("{name} is {value}, not an integer from 0 to 2^64 - 1"))
}

fn at_least_one(message: &Map<String, Value>, name: &str) -> Result<u64, String> {
    match integer(message, name)? {
        0 => Err(format!("{name} is 0; it must be at least 1")),
        value => Ok(value),
    }
}

fn reserved(given: &Map<String, Value>, name: &str) -> Result<bool, String> {
    let value = given.get(name).unwrap_or(&Value::Bool(false));
    value.as_bool().ok_or_else(|| format!("parameter {name:?} cannot be {value}; it is true or false"))
}

fn listed(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
