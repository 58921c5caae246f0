//! Whether a request fits what a probe says of itself. The tool checks a request before it sends
//! it, so that probes need not: a request that does not fit never reaches one.

use taskscale_model::{
    idle,
    missing::Missing,
    params::{ParamValue, Params},
    protocol::{
        COLLECTOR, COUNTERS, Description, MAX_INTEGER, MEMORY, PHASES, Param, ROUGH_BYTES, RunRequest,
        VERIFY, Variant, Workload,
    },
};

use crate::{invariants, meant};

/// Finds the first thing in `request` that does not fit the probe of `description`. Says what is
/// wrong with it, what is allowed, and what to do.
pub fn validate(description: &Description, request: &RunRequest) -> Result<(), Missing> {
    let workload = named(&description.workloads, |one| &one.name, &request.workload, "workload")?;
    let variant = named(&workload.variants, |one| &one.name, &request.variant, "variant")?;
    if let Some(missing) = &variant.unavailable {
        return wrong(format!("variant {:?} {}", variant.name, missing.reason), &missing.remedy);
    }
    for (name, number) in [("size", request.size), ("iterations", request.iterations)] {
        if number == 0 {
            return wrong(format!("{name} is 0; it must be at least 1"), "ask for at least 1");
        }
    }
    let numbers = [
        ("size", request.size),
        ("iterations", request.iterations),
        ("seed", request.seed),
        ("id", request.id),
    ];
    for (name, number) in numbers {
        if number > MAX_INTEGER {
            let remedy = "ask for less: every language reads numbers up to there exactly";
            return wrong(format!("{name} is {number}, above {MAX_INTEGER} (2^53 - 1)"), remedy);
        }
    }
    if let Some(most) = variant.max_size.filter(|most| request.size > *most) {
        let note = if variant.note.is_empty() { String::new() } else { format!(" ({})", variant.note) };
        let (size, name) = (request.size, &variant.name);
        let reason = format!("size {size} is above {most}, the most that variant {name:?} can bear{note}");
        return wrong(reason, &format!("choose --size {most} or less"));
    }
    request.params.iter().try_for_each(|(name, value)| fits(workload, variant, name, value))?;
    arrivals(&request.workload, request.size, &request.params)
}

/// Says what is wrong with a size of `idle` in which no whole number of tasks arrives. Every size
/// of another workload will do.
pub fn arrivals(workload: &str, size: u64, params: &Params) -> Result<(), Missing> {
    if workload != idle::WORKLOAD || idle::arrivals(size, params).is_some() {
        return Ok(());
    }
    let rate = params.get(idle::RATE).map_or_else(String::new, ToString::to_string);
    let reason = format!("in {size} ms no whole number of tasks arrives at {rate} a second");
    wrong(reason, "let size times rate be a multiple of 1000")
}

/// Says what is wrong with the first of `params` that the workload was not made for.
pub fn params(workload: &Workload, params: &Params) -> Result<(), Missing> {
    params.iter().try_for_each(|(name, value)| {
        let param = named(&workload.params, |one| &one.name, name, "parameter")?;
        if !takes(param, value) {
            return refused(param, value);
        }
        match (invariants::range(&workload.name, name), value) {
            (Some(range), ParamValue::Integer(number)) if !range.holds(*number) => wrong(
                format!("parameter {name:?} cannot be {number}; it is {range}"),
                &format!("give {name} such a value, or leave it out"),
            ),
            _ => Ok(()),
        }
    })
}

/// Checks one parameter of the request. An absent one needs no check: its default is the probe's
/// own.
fn fits(workload: &Workload, variant: &Variant, name: &str, value: &ParamValue) -> Result<(), Missing> {
    let reserved = Param {
        name: name.to_owned(),
        default: ParamValue::Flag(false),
        choices: Vec::new(),
        unavailable: Default::default(),
        help: String::new(),
    };
    let counters = Param {
        name: name.to_owned(),
        default: ParamValue::Word(MEMORY.into()),
        choices: [MEMORY, ROUGH_BYTES, COLLECTOR].map(|word| ParamValue::Word(word.into())).into(),
        ..reserved.clone()
    };
    let param = match name {
        VERIFY | PHASES => &reserved,
        COUNTERS => &counters,
        _ => named(&workload.params, |one| &one.name, name, "parameter")?,
    };
    if !takes(param, value) {
        return refused(param, value);
    }
    match variant.only.get(name) {
        Some(allowed) if !allowed.contains(value) => {
            let (variant, value, allowed) = (&variant.name, quoted(value), listed(allowed));
            let reason =
                format!("variant {variant:?} cannot be run with {name} {value}, only with {allowed}");
            wrong(reason, &format!("give {name} such a value, or choose another variant"))
        }
        _ => Ok(()),
    }
}

/// Why a value of `params` is known to the workload and not to be had in this toolchain.
pub fn unavailable(workload: &Workload, params: &Params) -> Option<Missing> {
    params.iter().find_map(|(name, value)| not_here(workload.param(name)?, value))
}

fn not_here(param: &Param, value: &ParamValue) -> Option<Missing> {
    let missing = param.why_not(value)?;
    Some(Missing::new(format!("no {} {value} here: {}", param.name, missing.reason), missing.remedy.clone()))
}

fn refused(param: &Param, value: &ParamValue) -> Result<(), Missing> {
    if let Some(missing) = not_here(param, value) {
        return Err(missing);
    }
    let name = &param.name;
    let reason = format!("parameter {name:?} cannot be {}; it is {}", quoted(value), kind(param));
    let rest = format!("give {name} such a value, or leave it out");
    let words = param.choices.iter().filter_map(|choice| match choice {
        ParamValue::Word(word) => Some(word.as_str()),
        _ => None,
    });
    wrong(reason, &meant::or_else(&value.to_string(), words, &rest))
}

/// Whether the value has the type of the parameter's default, is in range, and is one of its words.
fn takes(param: &Param, value: &ParamValue) -> bool {
    let is_kind = match (&param.default, value) {
        (ParamValue::Integer(_), ParamValue::Integer(number)) => *number <= MAX_INTEGER,
        (ParamValue::Flag(_), ParamValue::Flag(_)) | (ParamValue::Word(_), ParamValue::Word(_)) => true,
        _ => false,
    };
    is_kind && param.has(value)
}

fn kind(param: &Param) -> String {
    match param.default {
        _ if !param.choices.is_empty() => format!("one of {}", listed(&param.choices)),
        ParamValue::Flag(_) => "true or false".to_owned(),
        ParamValue::Integer(_) => "an integer from 0 to 2^53 - 1".to_owned(),
        ParamValue::Word(_) => "a word".to_owned(),
    }
}

fn named<'a, T>(
    all: &'a [T],
    name_of: impl Fn(&T) -> &String,
    name: &str,
    what: &str,
) -> Result<&'a T, Missing> {
    all.iter().find(|one| name_of(one) == name).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|one| name_of(one).as_str()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        let remedy = meant::or_else(
            name,
            all.iter().map(|one| name_of(one).as_str()),
            "choose one of those; `taskscale list` shows what each runtime offers",
        );
        Missing::new(format!("unknown {what} {name:?}; known here: {known}"), remedy)
    })
}

fn wrong(reason: String, remedy: &str) -> Result<(), Missing> {
    Err(Missing::new(reason, remedy))
}

/// Writes the value as JSON does: a word in quotes.
fn quoted(value: &ParamValue) -> String {
    match value {
        ParamValue::Word(word) => format!("{word:?}"),
        other => other.to_string(),
    }
}

fn listed(values: &[ParamValue]) -> String {
    values.iter().map(quoted).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description() -> Description {
        let text = r#"{
            "protocol": 1,
            "runtime": {"name": "r", "language": "l", "version": "1"},
            "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
            "workloads": [
                {"name": "fanout",
                 "params": [
                    {"name": "order", "default": "ordered", "choices": ["ordered", "completion", "discard"]},
                    {"name": "work", "default": 0},
                    {"name": "label", "default": ""},
                    {"name": "warm", "default": false},
                    {"name": "mode", "default": "in", "choices": ["in"],
                     "unavailable": {"out": {"reason": "no door", "remedy": "make one"}}},
                    {"name": "workers", "default": 0,
                     "unavailable": {"*": {"reason": "one domain", "remedy": "name another"}}}],
                 "variants": [
                    {"name": "spawn", "creates_task": true},
                    {"name": "scope", "creates_task": true, "only": {"order": ["discard", "completion"], "work": [5]},
                     "max_size": 9, "note": "a thread each"},
                    {"name": "group", "creates_task": true,
                     "unavailable": {"reason": "needs Python 3.11", "remedy": "name a newer one"}}]},
                {"name": "nop", "variants": []}]
        }"#;
        serde_json::from_str(text).expect("a description")
    }

    fn good() -> RunRequest {
        let text = r#"{"id":1,"workload":"fanout","variant":"spawn","size":1,"iterations":1,"seed":0}"#;
        serde_json::from_str(text).expect("a request")
    }

    fn with(name: &str, value: &str) -> impl Fn(&mut RunRequest) {
        move |request| {
            request.params.insert(name.into(), ParamValue::parse(value));
        }
    }

    #[track_caller]
    fn passes(change: impl Fn(&mut RunRequest)) {
        let mut request = good();
        change(&mut request);
        assert_eq!(validate(&description(), &request), Ok(()));
    }

    #[track_caller]
    fn says(change: impl Fn(&mut RunRequest), reason: &str, remedy: &str) {
        let mut request = good();
        change(&mut request);
        let missing = validate(&description(), &request).expect_err(reason);
        assert_eq!(missing.reason, reason);
        assert!(missing.remedy.contains(remedy), "{remedy:?} is not in {:?}", missing.remedy);
    }

    #[test]
    fn what_fits_passes() {
        passes(|_| ());
        passes(|request| {
            (request.size, request.iterations) = (MAX_INTEGER, MAX_INTEGER);
            (request.seed, request.id) = (MAX_INTEGER, MAX_INTEGER);
        });
        for (name, value) in [
            ("order", "completion"),
            ("work", "9007199254740991"),
            ("label", "any"),
            ("warm", "true"),
            ("verify", "true"),
            ("phases", "false"),
        ] {
            passes(with(name, value));
        }
        passes(|request| (request.variant, request.size) = ("scope".into(), 9));
        passes(|request| {
            request.variant = "scope".into();
            with("order", "completion")(request);
            with("verify", "true")(request);
        });
    }

    #[test]
    fn integers_that_the_protocol_bounds_are_held_to_it() {
        let param = |name: &str, default: u64| Param {
            name: name.into(),
            default: ParamValue::Integer(default),
            choices: Vec::new(),
            unavailable: Default::default(),
            help: String::new(),
        };
        let declared = vec![param("pause", 0), param("rate", 50), param("workers", 0), param("depth", 0)];
        let interp = Workload { name: "interp".into(), params: declared.clone(), variants: Vec::new() };
        let own = Workload { name: "own".into(), params: declared, variants: Vec::new() };
        let said = |workload: &Workload, name: &str, value: u64| {
            params(workload, &[(name.to_owned(), ParamValue::Integer(value))].into())
                .err()
                .map(|why| why.reason)
        };
        for (name, right, wrong, range) in [
            ("pause", 6, 7, "one of 0, 6, 100"),
            ("rate", 100, 0, "from 1 to 100"),
            ("rate", 1, 101, "from 1 to 100"),
            ("workers", 1_000, 1_001, "from 0 to 1000"),
        ] {
            assert_eq!(said(&interp, name, right), None);
            let reason = format!("parameter {name:?} cannot be {wrong}; it is {range}");
            assert_eq!(said(&interp, name, wrong), Some(reason));
            assert_eq!(said(&own, name, wrong), None, "another workload's parameter");
        }
        assert_eq!(said(&interp, "depth", 1_000_000), None);
        let pairs = vec![param("pairs", 1)];
        let pingpong = Workload { name: "pingpong".into(), params: pairs, variants: Vec::new() };
        assert_eq!([said(&pingpong, "pairs", 1), said(&pingpong, "pairs", 1_000)], [None, None]);
        for wrong in [0, 1_001] {
            let reason = format!("parameter \"pairs\" cannot be {wrong}; it is from 1 to 1000");
            assert_eq!(said(&pingpong, "pairs", wrong), Some(reason));
        }
        let context =
            Workload { name: "context".into(), params: vec![param("variables", 1)], variants: Vec::new() };
        assert_eq!([0, 1, 8].map(|right| said(&context, "variables", right)), [None, None, None]);
        let reason = "parameter \"variables\" cannot be 3; it is one of 0, 1, 8";
        assert_eq!(said(&context, "variables", 3).as_deref(), Some(reason));
        let remote =
            Workload { name: "remote".into(), params: vec![param("producers", 1)], variants: Vec::new() };
        assert_eq!([1, 64].map(|right| said(&remote, "producers", right)), [None, None]);
        for wrong in [0, 65] {
            let reason = format!("parameter \"producers\" cannot be {wrong}; it is from 1 to 64");
            assert_eq!(said(&remote, "producers", wrong), Some(reason));
        }
        let idle = Workload { name: "idle".into(), params: vec![param("rate", 1_000)], variants: Vec::new() };
        assert_eq!([1, 10, 100, 1_000].map(|right| said(&idle, "rate", right)), [None, None, None, None]);
        let reason = "parameter \"rate\" cannot be 50; it is one of 1, 10, 100, 1000";
        assert_eq!(said(&idle, "rate", 50).as_deref(), Some(reason));
    }

    #[test]
    fn a_whole_number_of_tasks_arrives() {
        let said = |workload, size, rate| {
            let params = Params::from([("rate".to_owned(), ParamValue::Integer(rate))]);
            arrivals(workload, size, &params).map_err(|why| why.reason)
        };
        assert_eq!(
            [said("idle", 1_000, 1), said("idle", 20, 100), said("nop", 7, 1)],
            [Ok(()), Ok(()), Ok(())]
        );
        let reason = "in 999 ms no whole number of tasks arrives at 1 a second";
        assert_eq!(said("idle", 999, 1), Err(reason.to_owned()));
    }

    #[test]
    fn words_must_be_known() {
        let known = "`taskscale list` shows";
        says(
            |request| request.workload = "lunch".into(),
            r#"unknown workload "lunch"; known here: fanout, nop"#,
            known,
        );
        says(
            |request| request.variant = "twice".into(),
            r#"unknown variant "twice"; known here: spawn, scope, group"#,
            known,
        );
        says(
            |request| request.workload = "nop".into(),
            r#"unknown variant "spawn"; known here: none"#,
            known,
        );
        says(
            with("colour", "red"),
            r#"unknown parameter "colour"; known here: order, work, label, warm, mode, workers"#,
            known,
        );
    }

    #[test]
    fn a_variant_must_be_available() {
        says(
            |request| request.variant = "group".into(),
            r#"variant "group" needs Python 3.11"#,
            "name a newer one",
        );
    }

    #[test]
    fn numbers_must_be_in_range() {
        let least = "at least 1";
        says(|request| request.size = 0, "size is 0; it must be at least 1", least);
        says(|request| request.iterations = 0, "iterations is 0; it must be at least 1", least);
        let above = MAX_INTEGER + 1;
        type Field = fn(&mut RunRequest) -> &mut u64;
        let fields: [(&str, Field); 4] = [
            ("size", |request| &mut request.size),
            ("iterations", |request| &mut request.iterations),
            ("seed", |request| &mut request.seed),
            ("id", |request| &mut request.id),
        ];
        for (name, field) in fields {
            let reason = format!("{name} is {above}, above {MAX_INTEGER} (2^53 - 1)");
            says(|request| *field(request) = above, &reason, "ask for less");
        }
    }

    #[test]
    fn a_variant_bears_so_much() {
        says(
            |request| (request.variant, request.size) = ("scope".into(), 10),
            r#"size 10 is above 9, the most that variant "scope" can bear (a thread each)"#,
            "choose --size 9 or less",
        );
    }

    #[test]
    fn values_are_of_the_type_of_the_default() {
        let such = "such a value, or leave it out";
        let whole = "an integer from 0 to 2^53 - 1";
        says(with("work", "x"), &format!(r#"parameter "work" cannot be "x"; it is {whole}"#), such);
        says(with("work", "true"), &format!(r#"parameter "work" cannot be true; it is {whole}"#), such);
        let above = "9007199254740992";
        says(with("work", above), &format!(r#"parameter "work" cannot be {above}; it is {whole}"#), such);
        says(with("warm", "1"), r#"parameter "warm" cannot be 1; it is true or false"#, such);
        says(with("label", "1"), r#"parameter "label" cannot be 1; it is a word"#, such);
        for name in [VERIFY, PHASES] {
            says(with(name, "1"), &format!("parameter {name:?} cannot be 1; it is true or false"), such);
        }
    }

    #[test]
    fn every_kind_of_counters_is_asked_for() {
        for kind in [MEMORY, ROUGH_BYTES, COLLECTOR] {
            passes(with(COUNTERS, kind));
        }
        let three =
            r#"parameter "counters" cannot be "all"; it is one of "memory", "rough_bytes", "collector""#;
        says(with(COUNTERS, "all"), three, "such a value");
    }

    #[test]
    fn a_word_that_is_not_to_be_had_here_says_why() {
        says(with("mode", "out"), "no mode out here: no door", "make one");
        says(with("mode", "up"), r#"parameter "mode" cannot be "up"; it is one of "in""#, "such a value");
        says(with("workers", "2"), "no workers 2 here: one domain", "name another");
        passes(with("workers", "0"));
        let two = Params::from([("workers".to_owned(), ParamValue::Integer(2))]);
        assert!(!description().workloads[0].accepts(&two));
    }

    #[test]
    fn values_are_among_the_choices_and_among_those_of_the_variant() {
        says(
            with("order", "random"),
            r#"parameter "order" cannot be "random"; it is one of "ordered", "completion", "discard""#,
            "such a value",
        );
        says(
            |request| {
                request.variant = "scope".into();
                with("order", "ordered")(request);
            },
            r#"variant "scope" cannot be run with order "ordered", only with "discard", "completion""#,
            "choose another variant",
        );
        says(
            |request| {
                request.variant = "scope".into();
                with("work", "6")(request);
            },
            r#"variant "scope" cannot be run with work 6, only with 5"#,
            "choose another variant",
        );
    }
}
