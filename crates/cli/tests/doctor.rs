//! `taskscale doctor` as a process: tests what a script sees of it. What it finds depends on the
//! machine and is no failure.

use std::process::{Command, Output};

use taskscale_model::doctor::{Checkup, SCHEMA};

fn doctor(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_taskscale");
    Command::new(program).arg("doctor").args(arguments).output().expect("the tool starts")
}

#[test]
fn json_is_one_checkup_and_nothing_is_said_beside_it() {
    let done = doctor(&["--format", "json"]);
    assert!(done.status.success());
    let checkup: Checkup = serde_json::from_slice(&done.stdout).expect("one object of the schema");
    assert_eq!(checkup.schema, SCHEMA);
    assert_eq!(checkup.machine.fingerprint, taskscale_sys::machine::read().fingerprint);
    assert!(checkup.findings.iter().any(|finding| finding.subject == "clock source"));
    assert!(done.stderr.is_empty(), "no progress without a terminal");
}

#[test]
fn usage_errors_alone_end_with_status_2() {
    let done = doctor(&["--format", "xml"]);
    assert_eq!(done.status.code(), Some(2));
    assert!(done.stdout.is_empty() && !done.stderr.is_empty());
}
