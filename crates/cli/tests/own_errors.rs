//! What fails in a user's own code is told by file and line, in each language.
#![allow(clippy::print_stdout, reason = "a skipped check is named in the test output")]

mod common;

use std::fs;

use common::Tool;

/// Runs a user's probe of which `old` on a line of its own code is replaced, so that it fails
/// there, and expects this line to be named with what it said.
fn tells(file: &str, (old, new): (&str, &str), words: &str) {
    let whole = format!("{}/../../examples/probes/{file}", env!("CARGO_MANIFEST_DIR"));
    let whole = fs::read_to_string(whole).expect("an example");
    let at = whole.find(old).unwrap_or_else(|| panic!("{file} has no {old}"));
    let line = whole[..at].lines().count() + usize::from(whole[..at].ends_with('\n'));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::write(&path, whole.replacen(old, new, 1)).expect("written");
    let out = folder.path().join("run.jsonl");
    let [path, out] = [&path, &out].map(|path| path.display().to_string());
    let ran = Tool::with_shared_cache()
        .run(&["run", "--probe", &path, "--size", "16", "--size", "64", "--quick", "-o", &out]);
    let said = format!("{}{}", ran.out, ran.err);
    if said.contains("install ") {
        println!("skipped: {file}: {}", said.trim());
        return;
    }
    let told = ran.out.split_whitespace().chain(ran.err.split_whitespace()).collect::<Vec<_>>().join(" ");
    for expected in [&format!("{file}:{line}: "), words, "mend that line", "at 2 sizes", " said:"] {
        // What is at both sizes comes last, and may be cut.
        let may_lack = *expected == *"at 2 sizes" && told.contains("...");
        assert!(may_lack || told.contains(expected), "{file}: no {expected:?} in\n{said}");
    }
    assert_eq!(ran.out.matches("failed    ").count(), 1, "both sizes fail alike: {}", ran.out);
}

/// Runs a user's probe that fails and gives no line, and expects its file, the way of doing the
/// work and what to do to be named.
fn names_the_file(file: &str, changes: &[(&str, &str)], words: &str, remedy: &str) {
    let whole = format!("{}/../../examples/probes/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut whole = fs::read_to_string(whole).expect("an example");
    for (old, new) in changes {
        assert!(whole.contains(old), "{file} has no {old}");
        whole = whole.replacen(old, new, 1);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(file);
    fs::write(&path, whole).expect("written");
    let path = path.display().to_string();
    let ran = Tool::with_shared_cache().run(&["run", "--probe", &path, "--size", "16", "--quick"]);
    if format!("{}{}", ran.out, ran.err).contains("install ") {
        println!("skipped: {file}: {}", ran.err.trim());
        return;
    }
    let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [words, remedy] {
        assert!(told.contains(expected), "{file}: no {expected:?} in\n{}{}", ran.out, ran.err);
    }
}

#[test]
fn what_gives_no_line_names_the_file() {
    names_the_file(
        "my_probe.mjs",
        &[("async (i) => 31 * i", "async (i) => { throw \"own trouble\" }")],
        "mine mine: my_probe.mjs: own trouble, when asked for fanout mine at size 16",
        "mend what fails there",
    );
    names_the_file(
        "my_probe.go",
        &[("\t\"sync\"\n", "\t\"os\"\n\t\"sync\"\n"), ("{ return 31", "{ os.Exit(3); return 31")],
        "my_probe.go ended (exit status 3) instead of answering fanout semaphore at size 16",
        "let nothing in it end the process",
    );
    names_the_file(
        "my_probe.cpp",
        &[
            ("#include <future>", "#include <csignal>\n#include <future>"),
            ("{ return 31", "{ raise(SIGSEGV); return 31"),
        ],
        "my_probe.cpp ended (killed by signal 11 (SIGSEGV)) instead of answering fanout async at size 16",
        "with a debugger or a sanitizer",
    );
}

macro_rules! told {
    ($($name:ident: $file:literal $old:literal => $new:literal, $words:literal;)*) => {
        $(#[test] fn $name() { tells($file, ($old, $new), $words); })*
    };
}
told! {
    in_python: "my_probe.py" "return 31 * i" => "return 31 * i + {}['x']", "KeyError: 'x'";
    in_go: "my_probe.go" "{ return 31 * uint64(i) }" => "{ return 31 * uint64(i) / uint64(i-i) }", "panic: runtime error";
    in_java: "MyProbe.java" "() -> 31L * i" => "() -> 31L * i / (i - i)", "ArithmeticException";
    on_node: "my_probe.mjs" "async (i) => 31 * i" => "async (i) => null.x * i", "Cannot read";
    in_rust: "my_probe.rs" "    31 * i" => "    [31; 4][i as usize + 4] * i", "index out of bounds";
    in_cpp: "my_probe.cpp" "return 31 * i;" => "if (i < 999) throw 31 * i; return i;", "";
    in_swift: "my_probe.swift" "{ 31 * UInt64(i) }" => "{ if i < 999 { fatalError(\"own trouble\") }; return 31 }", "own trouble";
    in_csharp: "my_probe.cs" "31L * i" => "31L * i / (i - i)", "DivideByZeroException";
    in_fsharp: "my_probe.fsx" "31L * int64 i" => "31L * int64 i / int64 (i - i)", "DivideByZeroException";
    in_ocaml: "my_probe.ml" "work i = 31 * i" => "work i = 31 * i / (i - i)", "Division_by_zero";
}
