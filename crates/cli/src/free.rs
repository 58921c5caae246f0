//! `taskscale run --probe FILE` without a suite: what the user's own probes register is the plan.

use anyhow::bail;
use taskscale_bench::plan::Found;
use taskscale_model::{
    answer::Rule,
    params::{ParamValue, Params},
    protocol::{Description, Workload},
    suite::{Block, Expected, FREE, LimitsAsked, SCHEMA, Suite},
};
use taskscale_stats::growth::MIN_SIZES;

use crate::{
    args::RunArgs,
    grade,
    runtimes::{self, Shaken},
    suites, tables,
};

/// The sizes of a workload that nobody knows. Four tell growth. A nested loop of Python takes 6 s
/// at the seventh, and three nested ones 20 s at the fifth, so that code with n^3 steps has four.
/// What is cheap reaches the eighth: OCaml's collector makes a fan-out look like n^1.6 from 1,024
/// to 16,384, and not beyond.
const SIZES: [u64; 8] = [16, 64, 128, 256, 1_024, 4_096, 16_384, 65_536];

/// The step from one size to the next.
const STEP: u64 = 4;

/// Time for all of it, in seconds. With the first build of the file, 2 to 15 s where nothing else
/// is at work, the first answer then comes within a minute.
const ALL_S: f64 = 45.0;

/// How long all rows together may take over one answer, in seconds: half of the time.
const ANSWERS_S: f64 = ALL_S / 2.0;

/// The least and the most that one answer may take, in seconds. A JVM on a busy machine needs 2 s
/// for its first one.
const ANSWER_S: (f64, f64) = (5.0, 10.0);

/// Tells whether the user names own probes, and neither a suite nor a runtime.
pub fn is_asked(args: &RunArgs) -> bool {
    args.suites.is_empty() && args.runtime.is_empty() && !args.probe.is_empty()
}

/// Refuses what goes only with a run without a suite.
pub fn check(args: &RunArgs) -> anyhow::Result<()> {
    if args.beside.is_empty() || is_asked(args) {
        return Ok(());
    }
    bail!(
        "--beside stands beside a --probe without a suite; with a suite, or with --runtime, say --runtime {}",
        args.beside.join(" --runtime ")
    )
}

/// Makes a suite of what the own probes register. Of each runtime beside them one variant stays,
/// unless the user names variants.
pub fn suite(args: &RunArgs, shaken: &mut [Shaken]) -> anyhow::Result<Suite> {
    let is_beside = |one: &Shaken| runtimes::known().any(|name| runtimes::split_id(&one.found.id).0 == name);
    let is_beside = |one: &Shaken| !args.beside.is_empty() && is_beside(one);
    let own = shaken.iter().filter(|one| !is_beside(one) && one.found.old_of.is_none());
    let own: Vec<Found> = own.map(|one| one.found.clone()).collect();
    let workloads = registered(&own)?;
    let names: Vec<String> = workloads.iter().map(|workload| workload.name.clone()).collect();
    for one in shaken.iter_mut().filter(|one| is_beside(one)) {
        let Ok(description) = &mut one.found.description else { continue };
        if !names.iter().any(|name| description.workload(name).is_some()) {
            bail!("{}", has_none(&one.found.id, description, &names));
        }
        if args.variant.is_empty() {
            narrow(description, &names)?;
        }
    }
    let all: Vec<&Description> =
        shaken.iter().filter_map(|one| one.found.description.as_ref().ok()).collect();
    let rows = all.iter().map(|description| variants(description, &names)).sum::<usize>();
    let timeout_s = (ANSWERS_S / rows.max(1) as f64).clamp(ANSWER_S.0, ANSWER_S.1);
    let several = several(&args.param);
    if let Some((name, _)) = several.iter().find(|(name, _)| !workloads.iter().any(|one| knows(one, name))) {
        bail!("{}", unknown(name, &workloads));
    }
    Ok(Suite {
        schema: SCHEMA.into(),
        name: FREE.into(),
        title: title(&names.join(" and one ")),
        source: String::new(),
        limits: LimitsAsked {
            timeout_s: Some(timeout_s),
            max_time_s: Some(ALL_S),
            budget_s: Some(ALL_S),
            ..grade::LIMITS
        },
        baseline: Default::default(),
        reference: Vec::new(),
        leave_out: Vec::new(),
        workloads: workloads.iter().map(|workload| block(workload, &several, &all)).collect(),
    })
}

/// The parameters that are asked for at several values, `k=1,2,4`, each with its values.
fn several(asked: &tables::Asked) -> Vec<(String, Vec<ParamValue>)> {
    let values = |(name, value): &(String, ParamValue)| match value {
        ParamValue::Word(words) if words.contains(',') => {
            let values = words.split(',').map(str::trim).filter(|word| !word.is_empty());
            Some((name.clone(), values.map(ParamValue::parse).collect()))
                .filter(|(_, values): &(_, Vec<ParamValue>)| !values.is_empty())
        }
        _ => None,
    };
    asked.iter().filter_map(values).collect()
}

/// The words of a user where tables have the values that are asked for: all of those that they
/// have.
pub fn of_table(args: &RunArgs) -> RunArgs {
    let several = several(&args.param);
    let mut args = args.clone();
    for (name, value) in &mut args.param {
        if several.iter().any(|(other, _)| other == name) {
            *value = tables::all();
        }
    }
    args
}

fn knows(workload: &Workload, param: &str) -> bool {
    workload.params.iter().any(|own| own.name == param)
}

/// That no workload has a parameter of this name.
fn unknown(name: &str, workloads: &[Workload]) -> String {
    let own: Vec<&str> =
        workloads.iter().flat_map(|workload| &workload.params).map(|param| param.name.as_str()).collect();
    let has = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
    format!("--param {name}: what the probe registers has no parameter of that name; it has {has}")
}

/// The workloads of these probes, each once, with the variants of all of them.
fn registered(own: &[Found]) -> anyhow::Result<Vec<Workload>> {
    let mut workloads: Vec<Workload> = Vec::new();
    for workload in
        own.iter().filter_map(|found| found.description.as_ref().ok()).flat_map(|one| &one.workloads)
    {
        match workloads.iter_mut().find(|other| other.name == workload.name) {
            Some(other) => other.variants.extend(workload.variants.clone()),
            None => workloads.push(workload.clone()),
        }
    }
    // What has parameters and no variant is what is left of a template.
    workloads.retain(|workload| !workload.variants.is_empty());
    if !workloads.is_empty() {
        return Ok(workloads);
    }
    let whys = own.iter().filter_map(|found| Some((&found.id, found.description.as_ref().err()?)));
    let whys: Vec<String> = whys.map(|(id, missing)| format!("{id}: {missing}")).collect();
    match whys.is_empty() {
        false => bail!("{}", whys.join("; ")),
        true => bail!("the probe registers no workload; `taskscale new-probe LANG` writes one that does"),
    }
}

fn title(name: &str) -> String {
    format!("what one {name} costs")
}

/// The table of a workload, for those that have it.
fn block(workload: &Workload, several: &[(String, Vec<ParamValue>)], all: &[&Description]) -> Block {
    let own = several.iter().filter(|(name, _)| knows(workload, name));
    let mut combined = combinations(own).into_iter();
    let params = combined.next().unwrap_or_default();
    let runtimes = all.iter().filter(|description| description.workload(&workload.name).is_some());
    Block {
        name: workload.name.clone(),
        title: title(&workload.name),
        sizes: sizes(workload),
        params,
        cases: combined.chain(cases(workload)).collect(),
        work_ns: Vec::new(),
        runtimes: Some(runtimes.map(|description| description.runtime.name.clone()).collect()),
        variants: None,
        stand_ins: Default::default(),
        controls: false,
        extra: false,
        first_for: Vec::new(),
        share: None,
        reach: None,
        scale: None,
        across: None,
        stream: None,
        split: None,
        rates: None,
        claims: Vec::new(),
        answer: Expected { rule: Rule::Agree, at: Default::default() },
    }
}

/// [`SIZES`] up to what one of the variants bears; where these are too few for a grade, smaller
/// ones.
fn sizes(workload: &Workload) -> Vec<u64> {
    let most = workload.variants.iter().map(|variant| variant.max_size.unwrap_or(u64::MAX)).max();
    let most = most.unwrap_or(u64::MAX).max(1);
    let within: Vec<u64> = SIZES.into_iter().filter(|size| *size <= most).collect();
    if within.len() >= MIN_SIZES {
        return within;
    }
    let below = std::iter::successors(Some(most), |size| Some(size / STEP).filter(|size| *size > 0));
    let mut below: Vec<u64> = below.take(MIN_SIZES).collect();
    below.reverse();
    below
}

/// Every combination of the values of these parameters; one of none without any.
fn combinations<'p>(params: impl Iterator<Item = &'p (String, Vec<ParamValue>)>) -> Vec<Params> {
    params.fold(vec![Params::new()], |before, (name, values)| {
        let with = |params: &Params| {
            let params = params.clone();
            values.iter().map(move |value| {
                let mut params = params.clone();
                params.insert(name.clone(), value.clone());
                params
            })
        };
        before.iter().flat_map(with).collect()
    })
}

/// The values with which a variant is run that its `only` keeps from a default.
fn cases(workload: &Workload) -> Vec<Params> {
    let default =
        |name: &str| workload.params.iter().find(|param| param.name == name).map(|param| &param.default);
    let mut cases: Vec<Params> = Vec::new();
    for variant in &workload.variants {
        let kept = |(name, values): (&String, &Vec<ParamValue>)| {
            let is_kept = default(name).is_some_and(|default| !values.contains(default));
            Some((name.clone(), values.first()?.clone())).filter(|_| is_kept)
        };
        let case: Params = variant.only.iter().filter_map(kept).collect();
        if !case.is_empty() && !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}

/// Keeps of each workload the variant that the suites have this runtime's rows divided by.
fn narrow(description: &mut Description, names: &[String]) -> anyhow::Result<()> {
    let suites = suites::built_in()?;
    let runtime = description.runtime.name.clone();
    for workload in description.workloads.iter_mut().filter(|workload| names.contains(&workload.name)) {
        let is_about = |suite: &&Suite| suite.workloads.iter().any(|block| block.name == workload.name);
        let mut about: Vec<&Suite> = suites.iter().filter(is_about).collect();
        about.sort_by_key(|suite| suite.name != workload.name);
        let bases = about.into_iter().filter_map(|suite| suite.baseline.get(&runtime)).flatten();
        let has = |name: &&String| workload.variants.iter().any(|variant| variant.name == **name);
        if let Some(base) = bases.into_iter().find(has).cloned() {
            workload.variants.retain(|variant| variant.name == base);
        }
    }
    Ok(())
}

/// How many rows a runtime has at one size.
fn variants(description: &Description, names: &[String]) -> usize {
    let workloads = description.workloads.iter().filter(|workload| names.contains(&workload.name));
    workloads.map(|workload| workload.variants.len()).sum()
}

/// That a runtime has nothing to stand beside the probes.
fn has_none(id: &str, description: &Description, names: &[String]) -> String {
    let has: Vec<&str> = description.workloads.iter().map(|workload| workload.name.as_str()).collect();
    format!(
        "--beside {id}: it has no workload named {}; it has {}. Register yours under one of these names and do the \
         same work (probes/PROTOCOL.md), write a second --probe for {id}, or leave --beside {id} out",
        names.join(" or "),
        has.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use taskscale_model::protocol::Variant;

    use super::*;

    fn workload(limits: &[Option<u64>]) -> Workload {
        let variant = |max_size: &Option<u64>| Variant {
            name: "v".into(),
            creates_task: false,
            only: Default::default(),
            max_size: *max_size,
            unavailable: None,
            note: String::new(),
        };
        Workload { name: "sort".into(), params: Vec::new(), variants: limits.iter().map(variant).collect() }
    }

    #[test]
    fn sizes_end_where_every_variant_does_and_are_enough_for_a_grade() {
        assert_eq!(sizes(&workload(&[None])), SIZES);
        assert_eq!(sizes(&workload(&[Some(20), None])), SIZES, "one bears them");
        assert_eq!(sizes(&workload(&[Some(20), Some(1_100)])), [16, 64, 128, 256, 1_024]);
        assert_eq!(sizes(&workload(&[Some(1_000)])), [16, 64, 128, 256]);
        assert_eq!(sizes(&workload(&[Some(200)])), [3, 12, 50, 200]);
        assert_eq!(sizes(&workload(&[Some(7)])), [1, 7]);
        assert_eq!(sizes(&workload(&[Some(0)])), [1], "its row says why");
    }

    #[test]
    fn a_variant_that_bears_no_default_is_run_with_what_it_bears() {
        use taskscale_model::protocol::Param;
        let mut workload = workload(&[None, None]);
        workload.params.push(Param {
            name: "order".into(),
            default: ParamValue::parse("ordered"),
            choices: Vec::new(),
            unavailable: Default::default(),
            help: String::new(),
        });
        assert!(cases(&workload).is_empty());
        let discards = vec![ParamValue::parse("discard")];
        workload.variants[1].only = [("order".to_owned(), discards.clone())].into();
        assert_eq!(cases(&workload), [Params::from([("order".to_owned(), discards[0].clone())])]);
    }
}
