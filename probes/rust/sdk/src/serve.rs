//! The loop: it reads a line and writes a line, flushed at once. A request that cannot be done gets
//! an error, and the probe lives on.

use std::io::{self, BufRead, Write};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::{PROTOCOL, Probe, Request, Run};

impl Probe {
    /// Serves standard input until it ends or says `exit`. An `Err` tells that a pipe failed.
    /// Standard output is flushed behind each line by itself.
    pub fn serve(&self) -> io::Result<()> {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            note(info);
            usual(info);
        }));
        // Between two lines the lock is free, for a workload that has lines of its own.
        for line in std::iter::from_fn(|| io::stdin().lock().split(b'\n').next()) {
            let object = serde_json::from_slice(&line?).map(Value::Object);
            let reply = match object.and_then(serde_json::from_value) {
                Ok(Request::Describe { protocol }) if protocol == PROTOCOL => Ok(self.description()),
                Ok(Request::Describe { protocol }) => Err(format!(
                    "the tool speaks protocol {protocol}, this probe protocol {PROTOCOL}; use both of one release"
                )),
                Ok(Request::Run(run)) => self.run(run),
                Ok(Request::Exit) => break,
                Err(why) => Err(format!("the line is not JSON, or no request: {why}")),
            };
            let error = |why| json!({"type": "error", "message": why, "protocol": PROTOCOL});
            writeln!(io::stdout(), "{}", reply.unwrap_or_else(error))?;
        }
        Ok(())
    }

    /// Performs a request. A panic fails this request only (the system gave no thread, or an
    /// instrumented run found a wrong result).
    fn run(&self, mut run: Run) -> Result<Value, String> {
        let unknown = || format!("no variant {:?} of a workload {:?} here", run.variant, run.workload);
        let workload = self.workloads.iter().find(|one| one.name == run.workload).ok_or_else(unknown)?;
        let variant = workload.variants.iter().find(|one| one.name == run.variant).ok_or_else(unknown)?;
        run.fill(workload, variant);
        *own_panic() = None;
        let timed = catch_unwind(AssertUnwindSafe(|| (variant.perform)(&run)));
        // What a task of the user's said comes before what its awaiting said of it.
        let timing = timed.map_err(|panic| own_panic().take().unwrap_or_else(|| message(&*panic)))??;
        Ok(json!({
            "type": "sample", "id": run.id, "wall_ns": timing.wall_ns, "cpu_ns": timing.cpu_ns,
            "answer": timing.answer, "extra": timing.extra,
        }))
    }
}

/// The first panic of a request in the user's own file, with its place: `my_probe.rs:12: at sea`.
fn own_panic() -> std::sync::MutexGuard<'static, Option<String>> {
    static FIRST: Mutex<Option<String>> = Mutex::new(None);
    FIRST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a panic, where it is of the file that the tool has named.
fn note(info: &PanicHookInfo<'_>) {
    let own = std::env::var("TASKSCALE_PROBE_FILE").unwrap_or_default();
    let of_own = info.location().filter(|at| at.file().rsplit('/').next() == Some(&*own));
    if let Some(at) = of_own {
        own_panic().get_or_insert_with(|| format!("{own}:{}: {}", at.line(), message(info.payload())));
    }
}

/// What a panic said.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or(panic.downcast_ref().cloned()).unwrap_or("a panic without a message".to_owned())
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc, thread, time::Duration};

    use super::*;
    use crate::{Param, Timing, Variant, Workload};

    fn variant(name: &str, about: Value, perform: fn(&Run) -> Result<Timing, String>) -> Variant {
        Variant { name: name.to_owned(), creates_task: true, about, perform: Box::new(perform) }
    }

    fn run(name: &str, params: Value) -> Result<Value, String> {
        let variants = vec![
            variant("double", json!({}), |run| Ok(run.time(|_| 2 * run.size))),
            variant("grown", json!({"only": {"by": [5, 7]}}), |run| Ok(run.time(|_| run.param("by")))),
            variant("mistaken", json!({}), |run| Ok(run.time(|_| run.param("buy")))),
            variant("broken", json!({}), |_| panic!("at sea")),
            variant("failed", json!({}), |_| Err("on land".to_owned())),
            variant("set-up", json!({}), |run| {
                let made = Rc::new(Cell::new(0));
                let setup = || {
                    thread::sleep(Duration::from_millis(3));
                    made.set(made.get() + 10);
                    Rc::clone(&made)
                };
                let mut alive = 0;
                let mut timing = run.time_each(setup, |_, made| {
                    alive += Rc::strong_count(made);
                    made.get()
                });
                // Each was dropped before the next was made: the one here and that one.
                timing.extra.insert("dropped", (alive / 2).into());
                Ok(timing)
            }),
            variant("told", json!({}), |run| {
                Ok(run.time(|phases| {
                    phases.created();
                    1
                }))
            }),
        ];
        let params_of_sum = vec![Param { name: "by", default: json!(1), choices: &[], help: "how much" }];
        let sum = Workload { name: "sum", params: params_of_sum, variants };
        let probe = Probe { name: "mine", version: "1.0".to_owned(), workers: None, workloads: vec![sum] };
        let request = json!({
            "id": 3, "workload": "sum", "variant": name, "size": 4, "iterations": 3, "seed": 1,
            "params": params, "new": 0,
        });
        probe.run(serde_json::from_value(request).unwrap())
    }

    #[test]
    fn iterations_are_summed_and_the_id_is_echoed() {
        let sample = run("double", json!({})).unwrap();
        assert_eq!((&sample["answer"], &sample["id"]), (&json!(12 * 2), &json!(3)));
    }

    #[test]
    fn an_absent_parameter_takes_its_default_or_the_first_value_that_the_variant_allows() {
        assert_eq!(run("grown", json!({})).unwrap()["answer"], 15);
        assert_eq!(run("grown", json!({"by": 7})).unwrap()["answer"], 21);
    }

    #[test]
    fn phases_are_told_and_nothing_else_is_extra() {
        assert_eq!(run("double", json!({"phases": true})).unwrap()["extra"], json!({}));
        assert_eq!(run("told", json!({})).unwrap()["extra"], json!({}));
        let sample = run("told", json!({"phases": true})).unwrap();
        let told = |name: &str| sample["extra"][name].as_u64().unwrap();
        assert!(0 < told("create_wall_ns") && told("create_wall_ns") < sample["wall_ns"].as_u64().unwrap());
        assert!(0 < told("create_cpu_ns") && told("create_cpu_ns") < sample["cpu_ns"].as_u64().unwrap());
    }

    #[test]
    fn what_is_set_up_untimed_is_made_anew_and_told_beside() {
        let sample = run("set-up", json!({})).unwrap();
        assert_eq!((&sample["answer"], sample["extra"]["dropped"].as_u64()), (&json!(60), Some(3)));
        assert!(sample["extra"]["setup_wall_ns"].as_u64().unwrap() >= 9_000_000, "{sample}");
    }

    #[test]
    fn a_panic_is_an_error_of_one_request() {
        assert_eq!(run("broken", json!({})).unwrap_err(), "at sea");
        assert_eq!(run("failed", json!({})).unwrap_err(), "on land");
        assert!(run("mistaken", json!({})).unwrap_err().starts_with("no parameter \"buy\""));
    }

    #[test]
    fn a_word_that_is_not_known_is_named() {
        let said = "no variant \"triple\" of a workload \"sum\" here";
        assert_eq!(run("triple", json!({})).unwrap_err(), said);
    }
}
