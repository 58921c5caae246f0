"""What `run` and `sweep` have in common: the programs, built, and a run of one of them with real-time priority."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "harnesses"))
import comparison  # noqa: E402: it lies beside the folder of this script

TOP = comparison.TOP
# The kernel holds back what asks for real-time priority for more than 95 % of a second.
COMPUTING = {"HEALTHY", "SCHEDULING_OVERHEAD", "RECURSIVE_OVERLAP"}


def fail(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def build(name, *command, env=None):
    print(f"building {name}", file=sys.stderr)
    done = subprocess.run(command, cwd=TOP, env={**os.environ, **(env or {})}, capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"{name} was not built:\n{done.stdout}{done.stderr}")


def programs(chosen, fresh):
    """The command and environment of each runtime, built where `fresh` says so."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target")
    folder, release = comparison.target("patterns-fixed"), target / "release"
    flags = ["-std=c++17", "-O2", "-I", TOP / "cpp" / "include"]
    library = [release / "libtaskscale.a", "-pthread", "-ldl", "-lm"]
    if fresh and {"taskflow", "onetbb", "dotnet"} & set(chosen):
        build("libtaskscale", "cargo", "build", "--release", "-p", "taskscale-capi")
    found = {}
    if "taskflow" in chosen:
        headers = os.environ.get("TASKFLOW", "/usr/local/include")
        if "define TF_VERSION 4" in (Path(headers) / "taskflow" / "taskflow.hpp").read_text():
            flags[0] = "-std=c++20"
        if fresh:
            build("taskflow", "g++", *flags, "-isystem", headers, HERE / "taskflow.cpp", *library, "-o", folder / "taskflow")
        found["taskflow"] = [folder / "taskflow"], {}
    if "onetbb" in chosen:
        if fresh:
            build("onetbb", "g++", *flags, HERE / "onetbb.cpp", *library, "-ltbb", "-o", folder / "onetbb")
        found["onetbb"] = [folder / "onetbb"], {}
    if "tokio" in chosen:
        unstable = target / "unstable"
        cargo = ["cargo", "build", "--release", "-p", "taskscale-tokio", "--example", "fixed", "--target-dir", unstable]
        if fresh:
            build("tokio", *cargo, env={"RUSTFLAGS": "--cfg tokio_unstable"})
        found["tokio"] = [unstable / "release" / "examples" / "fixed"], {}
    if "asyncio" in chosen:
        python = os.environ.get("PYTHON")
        if fresh and not python:
            build("asyncio", TOP / "python" / "tests" / "run", "build", env={"TASKSCALE_PROFILE": "release"})
        pythons = [python] if python else sorted(target.glob("python/venv-*/bin/python"))
        if not pythons:
            fail("no Python under target/python: python/tests/run build makes it, or PYTHON names one that has the package")
        found["asyncio"] = [pythons[0], "-P", HERE / "asyncio_programs.py"], {}
    if "dotnet" in chosen:
        project = ["-c", "Release", "-v", "q", "--nologo", "-p:UseSharedCompilation=false", "-nodeReuse:false"]
        calls = ["gcc", "-O2", "-shared", "-fPIC", "-I", TOP / "cpp" / "include", HERE / "dotnet" / "calls.c", "-L", release]
        if fresh:
            build("the calls of .NET", *calls, "-ltaskscale", "-o", folder / "libcalls.so")
            build(".NET", "dotnet", "build", *project, "--artifacts-path", folder / "dotnet", HERE / "dotnet" / "fixed.csproj")
        dll = folder / "dotnet" / "bin" / "fixed" / "release" / "fixed.dll"
        # The loader asks for the library by the name that holds its version.
        with contextlib.suppress(FileExistsError):
            (folder / "libtaskscale.so.0.1").symlink_to(release / "libtaskscale.so")
        found["dotnet"] = ["dotnet", dll], {"LD_LIBRARY_PATH": f"{folder}:{release}", "DOTNET_NOLOGO": "1"}
    return found


def first():
    """Asks for real-time priority, where this process may have it."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def execute(program, pattern, change, by, look):
    """What one run prints. `program` is a command and its environment."""
    command, env = program
    # The pool of .NET has no fewer threads than processors.
    one = {"DOTNET_PROCESSOR_COUNT": "1"} if pattern == "SCHEDULING_OVERHEAD" else {}
    words = [*command, pattern, str(change), str(by), look]
    if pattern in COMPUTING:
        time.sleep(0.5)
    done = subprocess.run(words, env={**os.environ, **env, **one}, capture_output=True, text=True, preexec_fn=first)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)
