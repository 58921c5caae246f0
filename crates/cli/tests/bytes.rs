//! The workload `bytes` as users see it: the file, the server, the floors, and a probe that cheats.

mod common;

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
};

use common::Tool;
use serde_json::Value;
use taskscale_model::bytes::Sums;

/// Figures do not matter here, so samples are few and short.
fn run(tool: &Tool, args: &[&str]) -> Value {
    let short = ["--samples", "2", "--sample-time", "200us", "--max-time", "600s", "--timeout", "600s"];
    let words: Vec<&str> =
        ["run", "bytes", "--format", "json"].iter().chain(args).chain(&short).copied().collect();
    let ran = tool.run(&words);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    ran.json()
}

fn names(table: &Value) -> Vec<String> {
    let rows = table["rows"].as_array().expect("rows").iter();
    rows.map(|row| format!("{}:{}", row["runtime"], row["variant"]).replace('"', "")).collect()
}

#[test]
fn a_file_is_made_and_floors_stand_beside_the_variant_that_was_named() {
    let tool = Tool::new();
    let summary = run(&tool, &["--runtime", "tokio", "--variant", "File::read/for", "--size", "65537"]);
    let tables = summary["overview"]["streams"].as_array().expect("tables");
    assert_eq!(tables.len(), 1, "{tables:?}");
    let found = names(&tables[0]);
    for name in
        ["threads:memcpy/none", "threads:read/none chunk=16384", "threads:read/for", "tokio:File::read/for"]
    {
        assert!(found.iter().any(|one| one == name), "{name} is not among {found:?}");
    }
    assert!(!found.iter().any(|name| name.contains("mmap")), "no more of threads: {found:?}");
    assert!(
        tables[0]["floor"].as_str().is_some_and(|floor| floor.starts_with("threads:read/")),
        "{tables:?}"
    );
    assert!(tables[0].get("server_mib_ns").is_none(), "nothing was served");
}

#[test]
fn over_http_the_server_is_another_process_whose_time_is_told() {
    let summary = run(
        &Tool::new(),
        &["--runtime", "tokio", "--variant", "hyper/for", "--param", "source=http", "--size", "1000001"],
    );
    let table = &summary["overview"]["streams"][0];
    let found = names(table);
    assert!(found.contains(&"tokio:hyper/for".to_owned()), "{found:?}");
    assert!(found.contains(&"threads:read/for".to_owned()), "{found:?}");
    assert!(table["server_mib_ns"].as_f64().is_some_and(|ns| ns > 0.0), "{table}");
}

#[test]
fn a_probe_that_knows_the_answer_is_caught_by_swapped_bytes() {
    let probe = format!("python3 {}/tests/probes/canned.py", env!("CARGO_MANIFEST_DIR"));
    let ran = Tool::new().run(&["probe", "check", "--verbose", &probe]);
    assert_eq!(ran.status, Some(1), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("ok       answers: bytes canned/sum mode=fnv"), "{}", ran.out);
    assert!(ran.out.contains("FAILED   swapped bytes: bytes canned/sum mode=fnv"), "{}", ran.out);
    // Sums modulo 256 do not see it.
    assert!(ran.out.contains("ok       swapped bytes: bytes canned/sum mode=sum8"), "{}", ran.out);
}

#[test]
fn an_author_is_told_where_the_bytes_are_until_input_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut serves = Command::new(env!("CARGO_BIN_EXE_taskscale"))
        .args(["probe", "bytes", "300000", "1", "--folder"])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines =
        BufReader::new(serves.stdout.take().expect("a pipe")).lines().map(|line| line.expect("a line"));
    assert_eq!(lines.next().expect("a line"), format!("TASKSCALE_BYTES={}", folder.path().display()));
    let url = lines.next().expect("a second line");
    let address = url.strip_prefix("TASKSCALE_BYTES_URL=http://").expect("an address").to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).expect("it listens");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("sent");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).expect("a response");
        let end = response.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&response[..end]).to_lowercase();
        (head, response[end + 4..].to_vec())
    };
    for size in [1, 300_000] {
        let (head, body) = get(&format!("/{size}.bytes"));
        assert!(
            head.starts_with("http/1.1 200") && head.contains(&format!("content-length: {size}")),
            "{head}"
        );
        let mut sums = Sums::default();
        sums.add(&body);
        assert_eq!(sums, Sums::of_content(size));
    }
    for path in ["/", "/2.bytes", "/01.bytes", "/../1.bytes", "/1.bytes/", "/passwd"] {
        let (head, body) = get(path);
        assert!(head.starts_with("http/1.1 404") && body.is_empty(), "{path}: {head}");
    }
    drop(serves.stdin.take());
    assert!(serves.wait().expect("it ends").success());
}
