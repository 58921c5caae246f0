//! What must hold for any line that a probe answers with.

use taskscale_bench::{judge::Judge, link::Observed, probe::parse, validate::validate};
use taskscale_model::{
    answer::Rule,
    missing::Missing,
    protocol::{Clock, Description, Reply, RunRequest},
};

/// Reads a line as the answer to a request and judges it. Whatever it is, a refusal is one plain
/// line of bounded length, and a sample that is believed has the right answer.
pub fn check_answer(line: &[u8]) {
    let request = RunRequest {
        id: 5,
        workload: "fanout".into(),
        variant: "v".into(),
        size: 64,
        iterations: 2,
        params: Default::default(),
        seed: 1,
    };
    match parse(line, "describe") {
        Err(fault) => {
            let said = fault.to_string();
            assert!(said.chars().count() < 2_000, "{} characters", said.len());
            assert!(!said.contains(char::is_control), "{said:?}");
        }
        Ok(Reply::Description(description)) => ask_all(&description, &request),
        Ok(Reply::Sample(sample)) => {
            let right = sample.answer.0 == 2 * 62_496;
            let observed = Observed {
                sample,
                outside_wall_ns: 100_000_000,
                outside_cpu_ns: Some(95_000_000),
                stopped: None,
                threads: Err(Missing::new("not looked at", "")),
                load: None,
                run_delay_ns: None,
                server_cpu_ns: None,
            };
            let clock = Clock { wall_resolution_ns: 1, cpu_resolution_ns: 1 };
            let judged = Judge::new(clock, 2).judge(Rule::SumOfTasks, &request, &observed);
            assert!(right || judged.is_err(), "a wrong answer is believed");
        }
        Ok(_) => {}
    }
}

/// Holds a request for each variant to a description.
fn ask_all(description: &Description, request: &RunRequest) {
    for workload in &description.workloads {
        for variant in &workload.variants {
            let asked = RunRequest {
                workload: workload.name.clone(),
                variant: variant.name.clone(),
                ..request.clone()
            };
            let _ = validate(description, &asked);
        }
    }
}
