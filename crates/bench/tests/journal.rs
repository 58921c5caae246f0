//! What is written of whoever takes a run, and the check of each line.

use taskscale_bench::journal::Journal;
use taskscale_model::run_file::{Record, line, redact::Redactor};

fn record(text: &str) -> Record {
    serde_json::from_str(text).expect("a record")
}

const RUNTIME: &str = r#"{"type":"runtime","id":"sh /home/jane/p.sh --token abc","command":["sh","/home/jane/p.sh","--token","abc"],
    "state":"missing","reason":"no /home/jane/p.sh; it said: password=abc"}"#;

const SAMPLE: &str = r#"{"type":"sample","order":0,"row":0,"kind":"timed","round":0,"process":0,"workload":"w",
    "runtime":"sh /home/jane/p.sh --token abc","variant":"v","size":1,"iterations":1,"seed":1,"wall_ns":1,"cpu_ns":1,
    "outside_wall_ns":1,"answer":1}"#;

fn written(journal: impl FnOnce(Journal<'_>)) -> String {
    let mut out = Vec::new();
    journal(Journal::new(&mut out));
    String::from_utf8(out).expect("text")
}

#[test]
fn each_line_has_its_check() {
    let text = written(|mut journal| {
        for text in [RUNTIME, SAMPLE] {
            journal.append(&record(text)).expect("written");
        }
    });
    assert_eq!(text.lines().count(), 2);
    assert!(text.lines().all(|text| line::check(text.as_bytes()) == line::Check::Right), "{text}");
    assert!(text.contains("/home/jane") && text.contains("--token abc"), "nothing is left out unasked");
}

#[test]
fn homes_users_and_secrets_are_left_out_alike_in_all_records() {
    let redactor = Redactor::new(Some("/home/jane"), Some("jane"));
    let text = written(|journal| {
        let mut journal = journal.redacting(redactor);
        for text in [RUNTIME, SAMPLE] {
            journal.append(&record(text)).expect("written");
        }
    });
    for secret in ["jane", "abc", "/home"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let records: Vec<Record> = text.lines().map(record).collect();
    let [Record::Runtime(runtime), Record::Sample(sample)] = &records[..] else { panic!("{text}") };
    assert_eq!(runtime.id, "sh ~/p.sh --token ***");
    assert_eq!(runtime.command, ["sh", "~/p.sh", "--token", "***"]);
    assert_eq!(sample.runtime, runtime.id, "a sample still belongs to its runtime");
    assert!(text.lines().all(|text| line::check(text.as_bytes()) == line::Check::Right), "{text}");
    assert!(text.starts_with("{\"type\":\"runtime\",\"id\":"), "fields keep their order");
}
