//! `interp`: requests to an interpreter that may suspend, in every encoding that Rust has for it.
//!
//! | module | holds |
//! |---|---|
//! | [`program`] | the tree, and how it is read |
//! | [`value`] | values, the environment, and the builtins that cannot suspend |
//! | [`machine`] | what the evaluators share |
//! | [`sync`] | `sync` |
//! | [`boxed`] | `async`, `async/sync_caller` |
//! | [`maybe`] | `union`, `hidden` |
//! | [`task`] | `task` |
//! | [`http`] | the server |
//! | [`tool`] | what a server and the tool say to each other |
//! | [`observe`] | what an instrumented run counts |
//! | [`workers`] | threads that share the requests |

mod boxed;
mod http;
mod machine;
mod maybe;
mod observe;
mod program;
mod sync;
mod task;
#[cfg(test)]
mod tests;
mod tool;
mod value;
mod workers;

use crate::parts::is_served;

use std::{cell::OnceCell, marker::PhantomData, sync::Arc};

use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

use self::{
    machine::Machine,
    maybe::{Maybe, Union},
    observe::{Counting, Observe, Silent},
    program::Node,
    value::{Env, Value},
};
use crate::{
    runtimes::Flavour,
    sdk::{Param, Run, Timing, Variant, Workload},
};

/// The workload `interp` with the variants of tokio. The answer of an iteration is the number of
/// requests with the right output.
pub fn workload() -> Workload {
    let lookup = Param {
        name: "lookup",
        default: json!("by_name"),
        choices: &["by_name", "prelinked"],
        help: "how a call finds its function: in a hash map, or in the tree; the environment is a linked list",
    };
    let number = |name, help| Param { name, default: json!(0), choices: &[], help };
    let params = vec![
        lookup,
        number("pause", "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100"),
        number("depth", "above 0: that many nested lets are evaluated"),
        number("workers", "above 0: that many threads share the requests, each with a loop of its own"),
        Param {
            name: "mode",
            default: json!("inproc"),
            choices: &["inproc", "http-closed", "http-open"],
            help: "whether requests are made in the process, or over HTTP to a server of hyper",
        },
        Param {
            name: "rate",
            default: json!(50),
            choices: &[],
            help: "http-open: percent of the closed throughput",
        },
    ];
    let current = Flavour::CurrentThread;
    let mut variants = vec![
        variant("sync", false, "plain recursion; an element that suspends calls thread::yield_now", Sync),
        variant(
            "current_thread/async",
            false,
            "a boxed future at every node and builtin",
            Async::<false>(current),
        ),
        variant(
            "current_thread/async/sync_caller",
            false,
            "a boxed future at every node; builtins that cannot suspend are called",
            Async::<true>(current),
        ),
        variant(
            "current_thread/union",
            false,
            "an enum of a value and a boxed future; combinators take the value at once",
            Either(current, PhantomData::<fn() -> Union>),
        ),
        variant(
            "current_thread/hidden",
            false,
            "a value may be a pending one, behind an Arc and a Mutex",
            Either(current, PhantomData::<fn() -> Value>),
        ),
    ];
    variants.extend(Flavour::ALL.map(|(name, flavour)| {
        variant(format!("{name}/task"), true, "tokio::spawn at every node", Task(flavour))
    }));
    variants.push(Variant {
        name: "constant".into(),
        creates_task: false,
        about: json!({
            "only": {"mode": ["http-closed", "http-open"]},
            "note": "the right bytes without evaluating: what the server costs",
        }),
        perform: Box::new(move |run| {
            http::serve(run, current, right(run), |right| std::future::ready(right.clone()))
        }),
    });
    Workload { name: "interp", params, variants }
}

/// A way of evaluating, for any observer.
trait Form: Copy + Send + std::marker::Sync + 'static {
    fn perform<O: Observe>(&self, work: &Work<O>) -> Timing;
    /// One request to a server.
    fn answer<O: Observe>(
        &self,
        machine: Arc<Machine<O>>,
        program: &'static Node,
    ) -> impl Future<Output = Value> + Send + use<O, Self>;
    /// The scheduler of its server, and of its workers.
    fn flavour(&self) -> Flavour {
        Flavour::CurrentThread
    }
}

/// A variant that performs `form`. The observer is chosen here, once per request, so that a timed
/// evaluator is compiled without one.
fn variant(name: impl Into<String>, creates_task: bool, note: &str, form: impl Form) -> Variant {
    let perform = move |run: &Run| {
        let workers = workers::number(run)?;
        if run.param("verify") {
            let counting: Vec<Counting> = (0..workers).map(|_| Counting::default()).collect();
            let mut timing = done(run, &form, &counting)?;
            timing.extra.extend(Counting::report(&counting));
            Ok(timing)
        } else {
            done(run, &form, &vec![Silent; workers])
        }
    };
    let about: Json = json!({ "note": note });
    Variant { name: name.into(), creates_task, about, perform: Box::new(perform) }
}

/// Performs `form` with an observer for each worker.
fn done<O: Observe>(run: &Run, form: &impl Form, observers: &[O]) -> Result<Timing, String> {
    let work = Work::new(run, observers[0].clone())?;
    if is_served(run) {
        let (form, machine, program) = (*form, work.machine, work.program);
        return http::serve(run, form.flavour(), work.right, move |_| {
            machine.observer.request();
            let (machine, result) = (Arc::clone(&machine), form.answer(Arc::clone(&machine), program));
            async move {
                let output = http::written(&result.await);
                machine.observer.output(&output);
                output
            }
        });
    }
    if workers::are_asked(run) {
        return workers::together(run, form, observers);
    }
    let timing = form.perform(&work);
    work.wrong.into_inner().map_or(Ok(timing), Err)
}

/// A request of the protocol, made ready.
struct Work<'a, O> {
    run: &'a Run,
    machine: Arc<Machine<O>>,
    program: &'static Node,
    /// The runtime of a worker's own; without one that of the process answers.
    runtime: Option<Runtime>,
    /// The right output.
    right: Vec<u8>,
    /// What was wrong with the first wrong output.
    wrong: OnceCell<String>,
}

impl<'a, O: Observe> Work<'a, O> {
    fn new(run: &'a Run, observer: O) -> Result<Self, String> {
        let every = match run.param("pause") {
            0 => 0,
            6 => 15,
            100 => 1,
            other => return Err(format!("pause is {other}; give 0, 6 or 100")),
        };
        let (depth, lookup): (u64, &str) = (run.param("depth"), run.param("lookup"));
        Ok(Work {
            run,
            machine: Arc::new(Machine { every, observer }),
            program: program::program(depth, lookup == "prelinked")?,
            runtime: None,
            right: right(run),
            wrong: OnceCell::new(),
        })
    }

    fn begin(&self) -> Env {
        self.machine.observer.request();
        Env::default()
    }

    /// Writes a result and compares it. Returns 1 if it is right.
    fn judged(&self, result: &Value) -> u64 {
        let output = serde_json::to_vec(result).unwrap_or_else(|why| why.to_string().into_bytes());
        self.machine.observer.output(&output);
        if output == self.right {
            return 1;
        }
        self.wrong.get_or_init(|| difference(&output, &self.right));
        0
    }

    /// Times requests that an async function answers.
    fn time(&self, flavour: Flavour, request: impl AsyncFn(&Env) -> Value) -> Timing {
        let iteration = async |_: &mut _| {
            let mut right = 0;
            for _ in 0..self.run.size {
                right += self.judged(&request(&self.begin()).await);
            }
            right
        };
        self.runtime.as_ref().unwrap_or_else(|| flavour.runtime()).block_on(self.run.time_async(iteration))
    }
}

#[derive(Clone, Copy)]
struct Sync;

impl Form for Sync {
    fn answer<O: Observe>(
        &self,
        machine: Arc<Machine<O>>,
        program: &'static Node,
    ) -> impl Future<Output = Value> + Send + use<O> {
        async move { machine.sync(program, &Env::default()) }
    }

    fn perform<O: Observe>(&self, work: &Work<O>) -> Timing {
        let request = || work.judged(&work.machine.sync(work.program, &work.begin()));
        work.run.time(|_| (0..work.run.size).map(|_| request()).sum())
    }
}

#[derive(Clone, Copy)]
struct Async<const SYNC_CALLER: bool>(Flavour);

impl<const SYNC_CALLER: bool> Form for Async<SYNC_CALLER> {
    fn answer<O: Observe>(
        &self,
        machine: Arc<Machine<O>>,
        program: &'static Node,
    ) -> impl Future<Output = Value> + Send + use<O, SYNC_CALLER> {
        async move { machine.boxed::<SYNC_CALLER>(program, &Env::default()).await }
    }

    fn perform<O: Observe>(&self, work: &Work<O>) -> Timing {
        work.time(self.0, async |env| work.machine.boxed::<SYNC_CALLER>(work.program, env).await)
    }
}

struct Either<M>(Flavour, PhantomData<fn() -> M>);

impl<M> Clone for Either<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M> Copy for Either<M> {}

impl<M: Maybe> Form for Either<M> {
    fn answer<O: Observe>(
        &self,
        machine: Arc<Machine<O>>,
        program: &'static Node,
    ) -> impl Future<Output = Value> + Send + use<O, M> {
        async move {
            let result: M = machine.maybe(program, &Env::default());
            machine.value(result).await
        }
    }

    fn perform<O: Observe>(&self, work: &Work<O>) -> Timing {
        let request = async |env: &Env| {
            let result: M = work.machine.maybe(work.program, env);
            work.machine.value(result).await
        };
        work.time(self.0, request)
    }
}

#[derive(Clone, Copy)]
struct Task(Flavour);

impl Form for Task {
    fn answer<O: Observe>(
        &self,
        machine: Arc<Machine<O>>,
        program: &'static Node,
    ) -> impl Future<Output = Value> + Send + use<O> {
        async move { machine.task(program, Env::default()).await }
    }

    fn flavour(&self) -> Flavour {
        self.0
    }

    fn perform<O: Observe>(&self, work: &Work<O>) -> Timing {
        work.time(self.0, async |env| work.machine.task(work.program, env.clone()).await)
    }
}

/// What each request of a run is to put out.
fn right(run: &Run) -> Vec<u8> {
    let depth: u64 = run.param("depth");
    if depth == 0 { output() } else { b"1".to_vec() }
}

/// The right output of the program, by its definition.
fn output() -> Vec<u8> {
    let word = |i: u64| match (i % 15, i % 5, i % 3) {
        (0, ..) => "\"fizzbuzz\"".to_owned(),
        (_, 0, _) => "\"buzz\"".to_owned(),
        (.., 0) => "\"fizz\"".to_owned(),
        _ => format!("\"{i}\""),
    };
    format!("[{}]", (1..=100).map(word).collect::<Vec<_>>().join(",")).into_bytes()
}

/// Where an output first differs from the right one.
fn difference(got: &[u8], right: &[u8]) -> String {
    let at = got.iter().zip(right).take_while(|(got, right)| got == right).count();
    let part = |bytes: &[u8]| {
        String::from_utf8_lossy(&bytes[at.min(bytes.len())..bytes.len().min(at + 40)]).into_owned()
    };
    format!(
        "a request's output differs from byte {at} on: {:?}, right is {:?} ({} bytes, right are {})",
        part(got),
        part(right),
        got.len(),
        right.len()
    )
}
