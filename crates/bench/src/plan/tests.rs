use super::*;
use taskscale_model::missing::Missing;
use taskscale_model::params::ParamValue;
use taskscale_model::protocol::{Clock, Description, Param, Runtime, Variant, Workload};
use taskscale_model::run_file::{Role, RowRecord};
mod stand_ins;

fn variant(name: &str, orders: &[&str]) -> Variant {
    Variant {
        name: name.into(),
        creates_task: true,
        only: [("order".to_owned(), orders.iter().map(|order| ParamValue::parse(order)).collect())].into(),
        max_size: None,
        unavailable: None,
        note: String::new(),
    }
}

fn found(id: &str, variants: Vec<Variant>) -> Found {
    let words = |words: &[&str]| words.iter().map(|word| ParamValue::parse(word)).collect::<Vec<_>>();
    let mut params = vec![Param {
        name: "order".into(),
        default: ParamValue::parse("ordered"),
        choices: words(&["ordered", "discard"]),
        unavailable: Default::default(),
        help: String::new(),
    }];
    if id.starts_with("asyncio") {
        let choices = words(&["on", "off"]);
        params.push(Param {
            name: "gc".into(),
            default: choices[0].clone(),
            choices,
            unavailable: Default::default(),
            help: String::new(),
        });
    }
    let name = id.split('@').next().expect("first").to_owned();
    let runtime = Runtime { name, language: "x".into(), version: "1".into(), toolchain: String::new() };
    let workloads = vec![Workload { name: "fanout".into(), params, variants }];
    let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
    let description = Description {
        counters: Default::default(),
        protocol: 1,
        runtime,
        clock,
        workers: Some(2),
        jit: false,
        settle_ms: None,
        wake_ms: None,
        workloads,
    };
    Found {
        id: id.into(),
        asked: false,
        by_name: false,
        only_floors: false,
        old_of: None,
        description: Ok(description),
    }
}

pub(super) fn tokio() -> Found {
    found(
        "tokio",
        vec![variant("multi/spawn", &["ordered", "discard"]), variant("multi/JoinSet", &["discard"])],
    )
}

pub(super) fn suite(extra: &str) -> Suite {
    Suite::parse(&format!(
        "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\n\
         baseline = {{ tokio = [\"multi/spawn\"], asyncio = [\"gather\"] }}\n[[workload]]\nname = \"fanout\"\n\
         sizes = [64, 128]\nanswer = {{ rule = \"sum_of_tasks\" }}\n{extra}"
    ))
    .expect("valid")
}

fn planned(suites: &[Suite], runtimes: &[Found], selection: &Selection) -> Result<Plan, PlanError> {
    Plan::new(suites, runtimes, selection, &|_, _| Limits::default())
}

/// One word per row: `runtime:variant[case](role of baseline row)`.
fn shape(cell: &Cell) -> Vec<String> {
    let name = |row: &RowRecord| {
        let case = if row.key.case.is_empty() {
            String::new()
        } else {
            format!("[{}]", taskscale_model::params::label(&row.key.case))
        };
        format!("{}:{}{case}", row.key.runtime, row.key.variant)
    };
    let by_number =
        |number: u64| cell.rows.iter().find(|row| row.record.row == number).map(|row| name(&row.record));
    cell.rows
        .iter()
        .map(|row| {
            let record = &row.record;
            let over =
                record.baseline.and_then(by_number).map(|base| format!(" / {base}")).unwrap_or_default();
            let skip = match &row.state {
                RowState::Skipped(missing) => format!(" skipped: {}", missing.reason),
                RowState::Ready | RowState::Uncalibrated { .. } => String::new(),
            };
            format!("{:?} {}{over}{skip}", record.role, name(record))
        })
        .collect()
}

#[test]
fn rows_are_divided_by_their_runtimes_baseline_and_each_baseline_has_a_control() {
    let asyncio = found("asyncio", vec![variant("gather", &["discard"]), variant("wait", &["discard"])]);
    let plan =
        planned(&[suite("params = { order = \"discard\" }")], &[tokio(), asyncio], &Selection::default());
    assert_eq!(
        shape(&plan.expect("plan").suites[0].cells[0]),
        [
            "Baseline tokio:multi/spawn",
            "Row tokio:multi/JoinSet / tokio:multi/spawn",
            "Baseline asyncio:gather",
            "Row asyncio:wait / asyncio:gather",
            "Control tokio:multi/spawn / tokio:multi/spawn",
            "Control asyncio:gather / asyncio:gather",
        ]
    );
}

#[test]
fn a_table_lists_the_whole_name_of_a_variant_else_its_last_part_else_any() {
    let rows = |names: &[&str], listed: &str| {
        let variants = names.iter().map(|name| variant(name, &["discard"])).collect();
        let suite =
            suite(&format!("params = {{ order = \"discard\" }}\nvariants = [{listed:?}]\ncontrols = false"));
        let plan = planned(&[suite], &[found("asyncio", variants)], &Selection::default()).expect("plan");
        let cell = &plan.suites[0].cells[0];
        cell.rows.iter().map(|row| row.record.key.variant.clone()).collect::<Vec<_>>()
    };
    assert_eq!(rows(&["async", "async/cached", "one/async"], "async"), ["async"]);
    assert_eq!(rows(&["async/cached", "one/async", "two/async"], "async"), ["one/async", "two/async"]);
    assert_eq!(
        rows(&["async/cached", "one/async/cached", "sync"], "async"),
        ["async/cached", "one/async/cached"]
    );
}

#[test]
fn a_variant_without_that_order_is_not_a_row_and_a_lone_row_still_gets_a_control() {
    let plan = planned(&[suite("params = { order = \"ordered\" }")], &[tokio()], &Selection::default())
        .expect("plan");
    assert_eq!(
        shape(&plan.suites[0].cells[0]),
        ["Baseline tokio:multi/spawn", "Control tokio:multi/spawn / tokio:multi/spawn"]
    );
    assert_eq!(plan.cells().count(), 2, "one cell per size");
}

#[test]
fn cases_become_rows_where_the_runtime_knows_the_parameter() {
    let asyncio = found("asyncio", vec![variant("gather", &["discard"])]);
    let suite = suite("params = { order = \"discard\" }\ncases = [{ gc = \"off\" }]");
    let plan = planned(&[suite], &[tokio(), asyncio], &Selection::default()).expect("plan");
    let rows = shape(&plan.suites[0].cells[0]);
    assert!(rows.contains(&"Row asyncio:gather[gc=off] / asyncio:gather".to_owned()), "{rows:?}");
    assert!(!rows.iter().any(|row| row.contains("tokio") && row.contains("gc")), "{rows:?}");
}

#[test]
fn what_cannot_be_measured_is_a_skipped_row() {
    let mut bounded = variant("scope", &["discard"]);
    (bounded.max_size, bounded.note) = (Some(100), "one thread each".into());
    let mut newer = variant("TaskGroup", &["discard"]);
    newer.unavailable = Some(Missing::new("needs Python 3.11", ""));
    let absent = Found {
        id: "trio".into(),
        asked: false,
        by_name: false,
        only_floors: false,
        old_of: None,
        description: Err(Missing::new("not installed", "pip install trio")),
    };
    let runtimes = [found("threads", vec![bounded, newer]), absent];
    let plan = planned(&[suite("params = { order = \"discard\" }")], &runtimes, &Selection::default())
        .expect("plan");
    assert_eq!(
        shape(&plan.suites[0].cells[1])[..3],
        [
            "Row threads:scope skipped: can bear at most 100 tasks: one thread each",
            "Row threads:TaskGroup skipped: needs Python 3.11",
            "Row trio:* skipped: not installed",
        ]
    );
}

#[test]
fn two_toolchains_of_one_runtime_stand_side_by_side_over_one_baseline() {
    let runtimes = ["asyncio@a", "asyncio@b"].map(|id| found(id, vec![variant("gather", &["discard"])]));
    let selection = Selection { baseline: Some("asyncio@a:gather".into()), ..Selection::default() };
    let plan = planned(&[suite("params = { order = \"discard\" }")], &runtimes, &selection).expect("plan");
    assert_eq!(
        shape(&plan.suites[0].cells[0]),
        [
            "Baseline asyncio@a:gather",
            "Row asyncio@b:gather / asyncio@a:gather",
            "Control asyncio@a:gather / asyncio@a:gather",
        ]
    );
}

#[test]
fn filters_match_whole_names_or_parts_and_mistakes_name_what_there_is() {
    let suites = [suite("params = { order = \"discard\" }")];
    let with = |variants: &[&str], baseline: Option<&str>| {
        let variants = variants.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection { variants, baseline: baseline.map(str::to_owned), ..Selection::default() };
        planned(&suites, &[tokio()], &selection)
    };
    assert_eq!(
        shape(&with(&["JoinSet"], None).expect("plan").suites[0].cells[0])[0],
        "Baseline tokio:multi/JoinSet"
    );
    let error = with(&["Joinset"], None).expect_err("no such variant").to_string();
    assert_eq!(
        error,
        "no variant is named Joinset; did you mean JoinSet? The runtimes here have: multi/JoinSet, multi/spawn"
    );
    let error = with(&[], Some("multi/spwan")).expect_err("no such baseline").to_string();
    assert!(
        error.contains("of any table; did you mean multi/spawn? Rows are: tokio:multi/JoinSet"),
        "{error}"
    );
    let error = with(&[], Some("spawn")).expect_err("no such baseline").to_string();
    assert_eq!(
        error,
        "--baseline spawn is not a row of any table; rows are: tokio:multi/JoinSet, tokio:multi/spawn"
    );
}

#[test]
fn a_table_that_names_runtimes_is_for_them_even_where_others_were_asked_for() {
    let other = "runtimes = [\"tokio\"]\n[[workload]]\nname = \"fanout\"\nsizes = [64]\nruntimes = [\"asyncio\"]\n\
                 title = \"other\"\nanswer = { rule = \"sum_of_tasks\" }";
    let tables_of = |id: &str| -> Vec<String> {
        let mut runtime = found(id, vec![variant("gather", &["ordered"])]);
        runtime.asked = true;
        let plan = planned(&[suite(other)], &[runtime], &Selection::default()).expect("plan");
        let mut tables: Vec<String> = plan.cells().map(|cell| cell.table.clone()).collect();
        tables.dedup();
        tables
    };
    assert_eq!(tables_of("tokio"), ["fanout"]);
    assert_eq!(tables_of("asyncio@python3.13"), ["other"]);
    assert_eq!(tables_of("mine"), ["fanout", "other"], "a user's own takes part in all");
}

/// Makes `found` the old side of `new`.
fn old_of(new: &str, mut found: Found) -> Found {
    found.old_of = Some(new.into());
    found
}

#[test]
fn each_row_of_a_new_side_is_judged_by_the_same_row_of_the_old_one() {
    let both = ["discard"];
    let runtimes = [
        found("asyncio@b", vec![variant("gather", &both), variant("wait", &both), variant("new", &both)]),
        tokio(),
        old_of(
            "asyncio@b",
            found(
                "asyncio@a",
                vec![variant("wait", &both), variant("gather", &both), variant("gone", &both)],
            ),
        ),
    ];
    let suite = suite(
        "params = { order = \"discard\" }\ncases = [{ gc = \"off\" }]\nvariants = [\"gather\", \"wait\", \"gone\", \"new\", \"spawn\"]",
    );
    let plan = planned(&[suite], &runtimes, &Selection::default()).expect("plan");
    let rows = shape(&plan.suites[0].cells[0]);
    assert_eq!(
        rows,
        [
            "Row asyncio@b:gather / asyncio@a:gather",
            "Row asyncio@b:gather[gc=off] / asyncio@a:gather[gc=off]",
            "Row asyncio@b:wait / asyncio@a:wait",
            "Row asyncio@b:wait[gc=off] / asyncio@a:wait[gc=off]",
            "Row asyncio@b:new",
            "Row asyncio@b:new[gc=off]",
            "Baseline tokio:multi/spawn",
            "Baseline asyncio@a:wait",
            "Baseline asyncio@a:wait[gc=off]",
            "Baseline asyncio@a:gather",
            "Baseline asyncio@a:gather[gc=off]",
            "Baseline asyncio@a:gone skipped: asyncio@b has no row to be judged by it",
            "Baseline asyncio@a:gone[gc=off] skipped: asyncio@b has no row to be judged by it",
            "Control asyncio@a:wait / asyncio@a:wait",
        ]
    );
    assert_eq!(plan.judged(&runtimes), 2 * 4, "four rows in each of two cells");
}

#[test]
fn a_table_read_for_its_growth_has_controls_only_between_two_sides() {
    let growth = suite("params = { order = \"discard\" }\ncontrols = false");
    let controls = |runtimes: &[Found]| {
        let plan = planned(std::slice::from_ref(&growth), runtimes, &Selection::default()).expect("plan");
        plan.rows().filter(|row| row.record.role == Role::Control).count()
    };
    assert_eq!(controls(&[tokio()]), 0);
    let one = || vec![variant("gather", &["discard"])];
    assert_eq!(controls(&[found("asyncio@b", one()), old_of("asyncio@b", found("asyncio@a", one()))]), 2);
}

#[test]
fn a_sweep_is_a_cell_per_variant_with_one_control_and_rows_numbered_through() {
    let sweep = suite("params = { order = \"discard\" }\nwork_ns = [100, 400]");
    let plan = planned(std::slice::from_ref(&sweep), &[tokio()], &Selection::default()).expect("plan");
    let first = "tokio:multi/spawn[work_ns=100]";
    assert_eq!(
        shape(&plan.suites[0].cells[0]),
        [
            format!("Row {first}"),
            "Row tokio:multi/spawn[work_ns=400]".into(),
            "Row tokio:loop[work_ns=100]".into(),
            "Row tokio:loop[work_ns=400]".into(),
            format!("Control {first} / {first}"),
        ]
    );
    assert_eq!(plan.cells().count(), 4, "two variants at two sizes");
    let numbers: Vec<u64> = plan.rows().map(|row| row.record.row).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    // A single work that the user asks for is no sweep.
    let one = Selection { work_ns: Some(1_000), ..Selection::default() };
    let plan = planned(&[sweep], &[tokio()], &one).expect("plan");
    assert_eq!(plan.cells().count(), 2);
    assert!(plan.rows().all(|row| row.record.sweep.is_none()));
}

#[test]
fn both_sides_of_a_comparison_are_swept_in_one_cell() {
    let one = || vec![variant("gather", &["discard"])];
    let runtimes = [found("asyncio@b", one()), old_of("asyncio@b", found("asyncio@a", one()))];
    let sweep = suite("params = { order = \"discard\" }\nwork_ns = [100, 400]");
    let plan = planned(&[sweep], &runtimes, &Selection::default()).expect("plan");
    let new = |name: &str, ns| format!("Row asyncio@b:{name}[work_ns={ns}] / asyncio@a:{name}[work_ns={ns}]");
    let old = |name: &str, ns| format!("Baseline asyncio@a:{name}[work_ns={ns}]");
    let each = |of: &dyn Fn(&str, u64) -> String| {
        [("gather", 100), ("gather", 400), ("loop", 100), ("loop", 400)].map(|(name, ns)| of(name, ns))
    };
    let control = "Control asyncio@a:gather[work_ns=100] / asyncio@a:gather[work_ns=100]".to_owned();
    assert_eq!(shape(&plan.suites[0].cells[0]), [&each(&new)[..], &each(&old)[..], &[control]].concat());
    let numbers: Vec<u64> =
        plan.suites[0].cells[0].rows.iter().filter_map(|row| Some(row.record.sweep?.number)).collect();
    assert_eq!(numbers, [0, 0, 0, 0, 1, 1, 1, 1, 1], "two sweeps");
}

#[test]
fn a_runtime_by_name_takes_part_where_a_table_or_the_user_names_it() {
    let missing = || Err(Missing::new("not built", "build it"));
    let old = |asked| Found {
        id: "tokio+old@x".into(),
        asked,
        by_name: true,
        only_floors: false,
        old_of: None,
        description: missing(),
    };
    let rows = |suite: &Suite, asked| {
        let plan = planned(std::slice::from_ref(suite), &[tokio(), old(asked)], &Selection::default());
        let plan = plan.expect("plan");
        plan.rows().filter(|row| row.record.key.runtime == "tokio+old@x" && row.record.key.size == 64).count()
    };
    let for_all = suite("");
    assert_eq!((rows(&for_all, false), rows(&for_all, true)), (0, 1));
    let named = suite("runtimes = [\"tokio\", \"tokio+old\"]");
    assert_eq!((rows(&named, false), rows(&named, true)), (1, 1));
    let other = "[[workload]]\nname = \"nop\"\nsizes = [64]\nanswer = { rule = \"count\" }";
    let both = suite(&format!("runtimes = [\"tokio+old\"]\n{other}"));
    assert_eq!((rows(&both, false), rows(&both, true)), (1, 1), "not in the other table");
}

#[test]
fn a_baseline_of_the_suite_may_be_another_runtimes_row() {
    let text = "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\n\
                baseline = { \"tokio+old\" = [\"tokio:multi/JoinSet\"] }\n[[workload]]\nname = \"fanout\"\nsizes = [64]\n\
                params = { order = \"discard\" }\nanswer = { rule = \"sum_of_tasks\" }";
    let suite = Suite::parse(text).expect("valid");
    let old = || found("tokio+old", vec![variant("multi/JoinSet", &["discard"])]);
    let plan = |runtimes: &[Found]| {
        shape(
            &planned(std::slice::from_ref(&suite), runtimes, &Selection::default()).expect("plan").suites[0]
                .cells[0],
        )
    };
    let both = plan(&[tokio(), old()]);
    assert!(both.contains(&"Row tokio+old:multi/JoinSet / tokio:multi/JoinSet".to_owned()), "{both:?}");
    let alone = plan(&[old()]);
    assert_eq!(alone[0], "Baseline tokio+old:multi/JoinSet", "{alone:?}");
}

#[test]
fn a_table_that_another_becomes_by_the_parameters_typed_is_measured_once() {
    let other = "[[workload]]\nname = \"fanout\"\ntitle = \"discarded\"\nsizes = [64]\n\
                 params = { order = \"discard\" }\nanswer = { rule = \"sum_of_tasks\" }";
    let suite = suite(&format!("title = \"in order\"\nparams = {{ order = \"ordered\" }}\n{other}"));
    let tables = |order: Option<&str>| {
        let params = order.map(|order| ("order".to_owned(), ParamValue::parse(order))).into_iter().collect();
        let selection = Selection { sizes: vec![64], params, ..Selection::default() };
        let plan = planned(std::slice::from_ref(&suite), &[tokio()], &selection).expect("plan");
        plan.cells().map(|cell| cell.table.clone()).collect::<Vec<_>>()
    };
    assert_eq!(tables(None), ["in order", "discarded"]);
    assert_eq!(tables(Some("ordered")), ["in order"]);
    assert_eq!(tables(Some("discard")), ["discarded"]);
}

#[test]
fn a_parameter_that_nothing_takes_is_named_with_what_is_allowed() {
    let said = |runtime: Found, variants: &[&str], name: &str, value: &str| {
        let params = [(name.to_owned(), ParamValue::parse(value))].into();
        let variants = variants.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection { variants, params, ..Selection::default() };
        planned(&[suite("")], &[runtime], &selection).expect_err("nothing fits").to_string()
    };
    let wrong = said(tokio(), &[], "order", "orderd");
    assert!(
        wrong.contains("\"order\" cannot be \"orderd\"; it is one of \"ordered\", \"discard\""),
        "{wrong}"
    );
    let unknown = said(tokio(), &["multi/spawn"], "colour", "red");
    assert!(unknown.contains("unknown parameter \"colour\"; known here: order"), "{unknown}");
    let unfit = said(tokio(), &["multi/JoinSet"], "order", "ordered");
    assert!(unfit.contains("no variant named multi/JoinSet can be run with order=ordered"), "{unfit}");
    let asked = Found { asked: true, ..tokio() };
    let one = said(asked, &[], "order", "orderd");
    assert!(one.contains("cannot be \"orderd\""), "{one}");
}

#[test]
fn a_whole_name_means_that_variant_and_shares_keep_their_base() {
    let orders = &["discard"][..];
    let names = ["gather", "async", "async/cached", "own/async"];
    let asyncio = || found("asyncio", names.iter().map(|name| variant(name, orders)).collect());
    let rows = |extra: &str| {
        let table = format!("params = {{ order = \"discard\" }}\ncontrols = false\n{extra}");
        let selection = Selection { variants: vec!["async".into()], ..Selection::default() };
        let plan = planned(&[suite(&table)], &[asyncio()], &selection).expect("a plan");
        shape(&plan.suites[0].cells[0])
    };
    assert_eq!(rows(""), ["Baseline asyncio:async"], "nor a part of the others' names");
    assert_eq!(
        rows("share = { unit = \"task\", count = 1 }"),
        ["Baseline asyncio:gather", "Row asyncio:async / asyncio:gather"]
    );
}

#[test]
fn each_variant_that_was_asked_for_is_looked_for() {
    let said = |runtime: Found, variants: &[&str]| {
        let variants = variants.iter().map(|name| (*name).to_owned()).collect();
        planned(&[suite("")], &[runtime], &Selection { variants, ..Selection::default() })
    };
    let wrong = said(tokio(), &["multi/spawn", "spwan"]).expect_err("one is no variant").to_string();
    assert!(
        wrong.starts_with("no variant is named spwan; did you mean spawn? The runtimes here have: "),
        "{wrong}"
    );
    // Nobody knows what a probe offers that said nothing: its row says why.
    let silent = Found {
        asked: true,
        description: Err(Missing::new("no answer to describe within 60 s", "")),
        ..tokio()
    };
    let plan = said(silent, &["spwan"]).expect("a plan with the row that says why");
    assert!(plan.rows().all(|row| matches!(row.state, RowState::Skipped(_))), "{plan:?}");
}

#[test]
fn a_parameter_is_looked_for_in_the_workload_that_is_measured() {
    let mut runtime = found("asyncio", vec![variant("gather", &["ordered"])]);
    let description = runtime.description.as_mut().expect("a description");
    let window = Param {
        name: "window".into(),
        default: ParamValue::Integer(1),
        choices: vec![],
        unavailable: Default::default(),
        help: String::new(),
    };
    let other =
        Workload { name: "another".into(), params: vec![window; 9], variants: vec![variant("vast", &[])] };
    description.workloads.push(other);
    let said = |variants: &[&str], params: &[(&str, &str)]| {
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), ParamValue::parse(value)));
        let variants = variants.iter().map(|name| (*name).to_owned()).collect();
        let selection = Selection { variants, params: params.collect(), ..Selection::default() };
        planned(&[suite("")], &[runtime.clone()], &selection).expect_err("nothing fits").to_string()
    };
    let unknown = said(&[], &[("ordr", "ordered")]);
    assert!(
        unknown.contains("unknown parameter \"ordr\"; known here: order, gc (did you mean order?"),
        "{unknown}"
    );
    let unknown = said(&["vasst"], &[]);
    assert!(unknown.ends_with("the runtimes here have: gather"), "{unknown}");
    let elsewhere = said(&["vast"], &[]);
    assert!(elsewhere.contains("no variant named vast can be run in these suites"), "{elsewhere}");
}

#[test]
fn a_workload_that_nobody_offers_is_told_with_the_one_that_is_near() {
    let text = "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\n[[workload]]\n\
                name = \"fanot\"\nsizes = [1]\nanswer = { rule = \"count\" }";
    let suites = [Suite::parse(text).expect("valid")];
    let error = planned(&suites, &[tokio()], &Selection::default()).expect_err("nothing fits").to_string();
    assert!(error.ends_with("offers a workload of this suite; by fanot it may mean fanout"), "{error}");
    let asked = Found { asked: true, ..tokio() };
    let plan = planned(&suites, &[asked], &Selection::default()).expect("a row that says why");
    let RowState::Skipped(missing) = &plan.rows().next().expect("a row").state else { panic!("{plan:?}") };
    assert!(missing.remedy.starts_with("did you mean fanout? "), "{missing}");
}

/// A runtime that reads bytes: `none` is a mode that only a floor has.
fn reader(id: &str, names: &[&str]) -> Found {
    let words = |words: &[&str]| words.iter().map(|word| ParamValue::parse(word)).collect::<Vec<_>>();
    let param = |name: &str, choices: &[&str]| Param {
        name: name.into(),
        default: ParamValue::parse(choices[0]),
        choices: words(choices),
        unavailable: Default::default(),
        help: String::new(),
    };
    let variant = |name: &&str| {
        let modes: &[&str] = if name.ends_with("/none") { &["none"] } else { &["sum8", "fnv"] };
        Variant { only: [("mode".to_owned(), words(modes))].into(), ..variant(name, &[]) }
    };
    let mut found = found(id, Vec::new());
    if let Ok(description) = &mut found.description {
        description.workloads = vec![Workload {
            name: "bytes".into(),
            params: vec![param("mode", &["sum8", "fnv", "none"]), param("source", &["file", "http"])],
            variants: names.iter().map(variant).collect(),
        }];
    }
    found
}

fn stream(further: &str) -> Suite {
    let text = format!(
        "schema = \"taskscale.suite/1\"\nname = \"t\"\ntitle = \"t\"\n[[workload]]\nname = \"bytes\"\nsizes = [8]\n\
         params = {{ mode = \"sum8\" }}\ncases = [{{ mode = \"none\" }}]\ncontrols = false\n{further}\n\
         answer = {{ rule = \"bytes\" }}\n\
         stream = {{ floors = [\"threads:read/none\", \"threads:read/for\"] }}"
    );
    Suite::parse(&text).expect("valid")
}

#[test]
fn floors_are_measured_whichever_runtime_is_named_and_nothing_else_of_theirs_is() {
    let swift = || reader("swift", &["Data/for", "read/none"]);
    let threads =
        |only_floors| Found { only_floors, ..reader("threads", &["read/none", "read/for", "mmap/for"]) };
    let names = |suite: &Suite, found: &[Found], selection: &Selection| -> Vec<String> {
        let plan = planned(std::slice::from_ref(suite), found, selection).expect("plan");
        plan.rows()
            .map(|row| format!("{} {}", row.record.key.runtime, row.record.key.variant_and_case()))
            .collect()
    };
    let floors = ["threads read/none mode=none", "threads read/for"];
    let beside = [&["swift Data/for"][..], &floors].concat();
    let all = [&beside[..], &["threads mmap/for"]].concat();
    let plain = Selection::default();
    assert_eq!(
        names(&stream(""), &[swift(), threads(true)], &plain),
        beside,
        "another's bare row is no floor"
    );
    assert_eq!(names(&stream(""), &[swift(), threads(false)], &plain), all);
    let of_swift = stream("runtimes = [\"swift\"]");
    assert_eq!(names(&of_swift, &[swift(), threads(false)], &plain), beside, "a table of another runtime");
    let one = Selection { variants: vec!["Data/for".into()], ..Selection::default() };
    assert_eq!(names(&stream(""), &[swift(), threads(true)], &one), beside, "one variant");
    let alone = planned(std::slice::from_ref(&of_swift), &[threads(false)], &plain);
    assert!(matches!(alone, Err(PlanError::Nothing { .. })), "floors alone answer nothing: {alone:?}");
    // Rows of microseconds and of seconds share no iterations.
    let plan = planned(&[stream("")], &[swift(), threads(false)], &plain).expect("plan");
    assert!(plan.rows().all(|row| row.record.baseline.is_none()));
}

#[test]
fn more_rows_than_a_machine_should_bear_are_refused_before_any_starts() {
    let many = |n: usize| (0..n).map(|n| variant(&format!("v{n}"), &["ordered"])).collect::<Vec<_>>();
    let plan = |n: usize| planned(&[suite("")], &[found("own", many(n))], &Selection::default());
    assert!(plan(MOST_ALIVE - 20).is_ok());
    let error = plan(MOST_ALIVE + 1).expect_err("too many").to_string();
    assert!(
        error.contains("at size 64 has 513 rows") || error.contains("at size 64 has 514 rows"),
        "{error}"
    );
    assert!(error.contains("name fewer with --runtime, --variant or --param"), "{error}");
}
