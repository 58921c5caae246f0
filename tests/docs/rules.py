"""What is not run, and why; what a command needs; the files that commands name."""

import fnmatch
import os
import re
import shutil
import subprocess
from collections import namedtuple
from functools import lru_cache

Rule = namedtuple("Rule", "page like why")

# Pages that are records of what was, or not ours.
NO_PAGES = ("CHANGELOG.md", "experiments/all/results", "experiments/harnesses")

# The page as a pattern of paths, the command as a regular expression. A rule that fits no command is a failure.
NOT_RUN = [
    Rule("README.md", r"cargo run --release -- run$", "tests/run/readme runs it and looks at what it prints"),
    Rule("docs/start.md", r"cargo run --release -- run$", "tests/run/readme runs it and looks at what it prints"),
    Rule("README.md", r"make test$", "this is a step of it"),
    Rule("README.md", r"taskscale setup$", "it installs packages; crates/cli/tests/toolchains.rs does so without a network"),
    Rule("docs/experiments/taskflow-guide.md", r"taskscale (run guide|report last)", "it needs Taskflow; crates/cli/tests/guide.rs does both"),
    Rule("README.md", r"taskscale run guide$", "it compiles 27 programs; crates/cli/tests/guide.rs runs one"),
    Rule("README.md", r"taskscale run cliffs$", "it builds a library of 2021, 100 s; a crate's test reads the suite"),
    Rule("docs/guides/install.md", r"make install|c\+\+ main", "the step packaging installs, builds and uninstalls"),
    Rule("docs/guides/install.md", r"pip install|cargo install|make dist", "make test-dist does, in clean places"),
    Rule("docs/guides/install.md", r"static/bin", "it needs a package that make dist has made"),
    Rule("docs/reference/compare.md", r"go@/opt", "it names a second Go in a folder of the reader's"),
    Rule("probes/go/README.md", r"go build", "the step go-probe does, and conformance.rs builds it as the tool does"),
    Rule("probes/go/README.md", r"./probe go", "it needs the build in the line above"),
    Rule("probes/java/README.md", r"", "N and FLAGS are the reader's; conformance.rs builds it as the tool does"),
    Rule("probes/cpp/README.md", r"", "CXX, RUNTIME and FLAGS are the reader's; the step cpp-probe builds all"),
    Rule("probes/guide/README.md", r"", "it needs Taskflow; the step guide compiles and runs all"),
    Rule("probes/ocaml/README.md", r"", "the step ocaml-probe builds and tests it, and it needs OCaml's packages"),
    Rule("probes/swift/README.md", r"", "conformance.rs builds it as the tool does, and holds it to the protocol"),
    Rule("docs/evidence/*", r"", "a study, minutes to hours; experiments/README.md has its time, a house test its name"),
    Rule("docs/guides/live-taskflow.md", r"make install|g\+\+ ", "the step cpp installs and builds, with Taskflow where it is"),
    Rule("docs/guides/live-tokio.md", r"cargo run --release$", "it builds a program of the reader's; the step tokio runs ours with the cfg"),
    Rule("schemas/README.md", r"GENERATED=overwrite", "it rewrites the schemas; the step rust holds them to the types"),
    Rule("probes/rust/README.md", r"cargo ", "the step rust-probe builds and tests it"),
    Rule("probes/rust/README.md", r"target/release", "it needs the build in the line above"),
    Rule("probes/rust/README.md", r"taskscale run cliffs", "it builds a library of 2021, 100 s"),
    Rule("probes/go/README.md", r"go test", "the step go-probe does"),
    Rule("probes/*/README.md", r"unittest|node --test", "the steps python-probe and node-probe do"),
    Rule("crates/cli/tests/perfetto/README.md", r"", "it downloads Perfetto's trace processor"),
]

# Files that commands name, and the kept files that they are copies of.
RUNS = "crates/analysis/tests/data"
SEEDS = {
    **{name: f"{RUNS}/wide.jsonl" for name in ("FILE", "RUN", "run.taskscale.jsonl")},
    **{name: f"{RUNS}/compare/old.jsonl" for name in ("OLD", "old.taskscale.jsonl", ".taskscale/main.taskscale.jsonl")},
    **{name: f"{RUNS}/compare/new.jsonl" for name in ("NEW", "new.taskscale.jsonl")},
    "trace.json": "crates/cli/tests/traces/taskflow-straggler.chrome.json",
    "script.py": "tests/docs/script.py",
    **{f"{folder}/mine.py": "examples/probes/my_probe.py" for folder in ("bench", "old", "new")},
}

# Where toolchains that a home folder holds are found, and the folders that a user's home has before any command.
IN_HOME = {"CARGO_HOME": ".cargo", "RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "GOPATH": "go", "GOCACHE": ".cache/go-build"}
HOME_FOLDERS = (".config/fish",)

# What a command needs by its words: a program and how to get it.
PROGRAMS = [
    (r"\.swift\b|swift\b", "swiftc", "install Swift"),
    (r"\.go\b|\bgo (build|test)|./probe go", "go", "install Go"),
    (r"\bjq\b", "jq", "install jq"),
    (r"\bnode ", "node", "install Node"),
    (r"\bmdbook\b", "mdbook", "pip install -r docs/requirements.txt"),
]


def not_run(page, command):
    """The first rule that fits, or nothing."""
    for rule in NOT_RUN:
        if fnmatch.fnmatch(page, rule.page) and re.search(rule.like, command):
            return rule
    return None


def missing(command, target):
    """What a command needs and this machine lacks, or nothing."""
    for like, program, remedy in PROGRAMS:
        if re.search(like, command) and not shutil.which(program):
            return f"there is no {program} on the PATH ({remedy})"
    for version in re.findall(r"asyncio@(python3\.\d+)", command):
        if not python(version):
            return f"there is no {version} (install it)"
    if "taskscale.observe" in command and venv(target) is None:
        return "the Python package is not built (make test STEPS=python)"
    return None


@lru_cache()
def python(version):
    found = os.path.join(os.path.expanduser(os.environ.get("PYENV_ROOT", "~/.pyenv")), "versions")
    versions = os.listdir(found) if os.path.isdir(found) else []
    if any(name.startswith(version[len("python") :] + ".") for name in versions):
        return True
    try:
        return subprocess.run([version, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


@lru_cache()
def venv(target):
    """The newest environment that has the wheel, which the step python makes."""
    for minor in (14, 13, 12, 11):
        folder = target / "python" / f"venv-3.{minor}"
        if (folder / "bin" / "taskscale").exists():
            return folder
    return None


def runs_tables(page):
    """Whether the commands in a page's tables are run."""
    return page == "README.md"


def in_its_folder(page):
    """A README beside code is read there; all other pages are read at the root."""
    return page.startswith("probes/") and page.endswith("README.md")


def statuses(page, command):
    """The exit statuses that are right: a comparison may find a regression, whatever the machine does."""
    return (0, 1) if re.search(r"taskscale (compare|run .*--against)", command) else (0,)
