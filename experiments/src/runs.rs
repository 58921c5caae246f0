//! The parts that the experiments share which judge the tool by runs of their own.

use taskscale_bench::{link::Link, plan::Plan, run::Order};
use taskscale_model::{
    params::Params,
    protocol::RunRequest,
    run_file::{self, Header, RuntimeRecord},
    suite::Suite,
};
use taskscale_sys::machine;

/// A suite with `fanout` of `size` tasks, results in order.
pub fn fanout(name: &str, size: u64) -> anyhow::Result<Suite> {
    Ok(Suite::parse(&format!(
        "schema = \"taskscale.suite/1\"\nname = \"{name}\"\ntitle = \"A/A\"\n[[workload]]\nname = \"fanout\"\n\
         sizes = [{size}]\nparams = {{ order = \"ordered\" }}\nanswer = {{ rule = \"sum_of_tasks\" }}"
    ))?)
}

/// The order for the `number`-th run of an experiment that was started with `seed`.
pub fn order((seed, number): (u64, u64), suite: Suite, runtimes: Vec<RuntimeRecord>, plan: Plan) -> Order {
    let machine = machine::read();
    Order {
        cpus: machine.cpus_usable.value().copied().unwrap_or(1),
        header: Header {
            schema: run_file::SCHEMA.into(),
            tool: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args().collect(),
            seed: seed.wrapping_mul(1_000_003).wrapping_add(number),
            started_unix_s: 0,
            machine,
            suites: vec![suite],
        },
        runtimes,
        plan,
    }
}

/// The CPU time of one iteration of `size`, in nanoseconds, asked of a process directly.
pub fn cpu_ns(
    link: &mut dyn Link,
    (workload, variant): (&str, &str),
    (size, iterations): (u64, u64),
    params: Params,
) -> anyhow::Result<f64> {
    let (workload, variant) = (workload.into(), variant.into());
    let request = RunRequest { id: 1, workload, variant, size, iterations, params, seed: 1 };
    Ok(link.run(&request, 60_000_000_000)?.sample.cpu_ns as f64 / iterations as f64)
}
