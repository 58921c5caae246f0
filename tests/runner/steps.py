"""What is tested: each step has a command that builds, one that runs what was built, and a place in the order."""

import os
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# In CI a lock file that does not fit its manifest is an error, not an edit.
LOCKED = " --locked" if os.environ.get("CI") else ""
# One directory for everything that cargo builds, so that what several depend on is built once.
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")


@dataclass(frozen=True)
class Step:
    """A part of the suite. `run` prints lines of which `outcomes.py` knows the form."""

    name: str
    run: str
    build: str = ""
    # Steps whose build comes first, since this one builds upon it.
    after: tuple = ()
    # Steps that have ended first: this one's build replaces a program that they run.
    behind: tuple = ()
    env: dict = field(default_factory=dict)
    # Whether it looks at files alone, so that a second run shows nothing new.
    static: bool = False


def cargo(arguments, folder="."):
    """A step's build and run by cargo; what passed is printed too, as a test may say there that it was skipped."""
    test = f"cd {folder} && cargo test{LOCKED} {arguments}"
    return {"build": f"{test} --no-run", "run": f"{test} --no-fail-fast -- --show-output"}


STEPS = [
    Step("format", "tests/run/with-component rustfmt cargo fmt --all --check", static=True),
    Step("lint", "tests/run/lint", static=True),
    Step("deny", "tests/run/deny", static=True),
    Step("runner", "cd tests/runner && python3 -m unittest -v", static=True),
    Step("rust", **cargo("--workspace --exclude taskscale-experiments --lib --bins --tests")),
    Step("rust-docs", f"cargo test{LOCKED} --workspace --doc --no-fail-fast", after=("rust",)),
    Step("rust-probe", **cargo("--workspace", "probes/rust"), after=("rust",)),
    Step(
        "tokio",
        **cargo("-p taskscale-tokio --features schedule-latency --lib --tests"),
        after=("rust",),
        # The hooks that tokio has behind this flag. What is built with it is kept apart from what is not.
        env={"RUSTFLAGS": "--cfg tokio_unstable", "CARGO_TARGET_DIR": str(TARGET / "unstable")},
    ),
    Step("python-probe", "tests/run/python-probe", build="tests/run/venv"),
    Step("go-probe", "tests/run/go-probe"),
    Step("java-probe", "tests/run/java-probe", build="tests/run/java-probe build"),
    Step("dotnet-probe", "tests/run/dotnet-probe", build="tests/run/dotnet-probe build"),
    Step("node-probe", "tests/run/node-probe"),
    Step("ocaml-probe", "tests/run/ocaml-probe", build="tests/run/ocaml-probe build"),
    Step("swift-probe", "tests/run/swift-probe", build="tests/run/swift-probe build"),
    Step("cpp-probe", "probes/cpp/tests/run", build="probes/cpp/tests/run build"),
    Step("guide", "probes/guide/check", build="probes/guide/check build"),
    Step("pages", "tests/pages/run", build="tests/pages/run build", behind=("rust",)),
    Step("cpp", "cpp/tests/run", build="cpp/tests/run build", behind=("rust",)),
    Step("packaging", "packaging/tests/run", build="packaging/tests/run build", behind=("rust",)),
    Step("action", "packaging/action/tests/run", build="packaging/action/tests/run build", behind=("rust",)),
    Step("python", "python/tests/run", build="python/tests/run build", behind=("rust",)),
    Step("docs", "tests/run/docs", build="tests/run/docs build", after=("python",)),
    Step("notebooks", "tests/run/notebooks", build="tests/run/notebooks build", after=("python",)),
]
