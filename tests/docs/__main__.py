"""Runs the commands of every .md file, and says which ran, which did not, and why. Python 3.8 or newer,
nothing else.

    python3 tests/docs                 all pages, with target/debug/taskscale
    python3 tests/docs README.md docs/guides/ci.md
    TASKSCALE=/usr/bin/taskscale python3 tests/docs

Blocks of ```sh are run, command by command, by bash, each page in a clean copy of the checkout of its own. A README that
lies beside code runs in its folder, every other page at the root. Blocks of ```console have commands behind `$ ` and what
they print; `[..]` there stands for any text and a line `...` for any lines. A command `taskscale ...` in a table of
README.md is run as well; within any other line it is parsed and not run. `rules.py` has what is not run, and `budget.py`
how long what measures may take.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pages
import rules

ROOT = Path(__file__).resolve().parent.parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target").resolve()
TOOL = Path(os.environ.get("TASKSCALE") or TARGET / "debug" / "taskscale").resolve()
# A command that takes longer is stuck.
SECONDS = 300
# The time of a command that takes longer is shown.
SLOW_S = 2


def main(names):
    if not TOOL.exists():
        print(f"FAILED: the tool: {TOOL} is not there (cargo build)")
        return 1
    files = tracked()
    wanted = names or [name for name in files if name.endswith(".md") and not name.startswith(rules.NO_PAGES)]
    failed, used, ran, left = False, set(), 0, 0
    with tempfile.TemporaryDirectory(prefix="taskscale-docs-") as folder:
        template = prepare(Path(folder), files)
        for page in wanted:
            commands, problems = pages.commands((ROOT / page).read_text(encoding="utf-8"), rules.runs_tables(page))
            if not commands and not problems:
                continue
            print(f"== {page}", flush=True)
            for line, problem in problems:
                print(f"FAILED: line {line}: {problem}")
                failed = True
            home = Path(folder) / "pages" / page.replace("/", "-")
            begun = time.monotonic()
            for command in commands:
                name = f"line {command.line}: {command.text}"
                rule = None if command.inline else rules.not_run(page, command.text)
                missing = "" if command.inline else rules.missing(command.text, TARGET)
                if rule is not None:
                    used.add(rule)
                    left += 1
                    print(f"not run: {name}: {rule.why}", flush=True)
                elif missing:
                    print(f"skipped: {name}: {missing}", flush=True)
                else:
                    started = time.monotonic()
                    problem = run(command, page, home, template, Path(folder))
                    failed |= bool(problem)
                    ran += 1
                    print(f"FAILED: {name}: {problem}" if problem else f"ok: {name}", flush=True)
                    if time.monotonic() - started > SLOW_S:
                        print(f"   {time.monotonic() - started:.1f} s", flush=True)
            print(f"   {time.monotonic() - begun:.1f} s for the page", flush=True)
    if not names:
        for rule in rules.NOT_RUN:
            if rule not in used:
                print(f"FAILED: rules.py: no command is like {rule.page} {rule.like}: take the rule out")
                failed = True
    print(f"{ran} commands ran or were parsed, {left} did not for the reasons above")
    return 1 if failed else 0


def tracked():
    """The files of the checkout, those not committed yet included."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode == 0:
        return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]
    # An archive without a repository.
    skipped = {"target", ".git", "__pycache__", "node_modules"}
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in skipped]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return sorted(found)


def prepare(folder, files):
    """A checkout of one commit, with the files that commands name; and the tool's stand-in, which keeps to the budget."""
    template = folder / "template" / "taskscale"
    for name in files:
        to = template / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to)
    for name, source in rules.SEEDS.items():
        to = template / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, to)
    git = ["git", "-c", "user.name=docs", "-c", "user.email=docs@localhost", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "as it is"], ["update-ref", "refs/remotes/origin/main", "HEAD"]):
        subprocess.run([*git, *arguments], cwd=template, check=True, stdout=subprocess.DEVNULL)
    shim = folder / "bin" / "taskscale"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve().parent / "budget.py"}" "$@"\n')
    shim.chmod(0o755)
    for name in rules.HOME_FOLDERS:
        (folder / "home" / name).mkdir(parents=True)
    return template.parent


def run(command, page, home, template, folder):
    """What went wrong with a command, or nothing."""
    if not home.exists():
        shutil.copytree(template, home, symlinks=True)
    checkout = home / "taskscale"
    at = checkout / Path(page).parent if rules.in_its_folder(page) else checkout
    text = f"{command.text} --help" if command.inline else command.text
    done = bash(text, at, folder)
    if done is None:
        return f"it takes more than {SECONDS} s"
    if done.returncode not in rules.statuses(page, command.text):
        return f"exit status {done.returncode}: {done.stderr[-600:]}{done.stdout[-600:]}"
    if command.expected is not None:
        return pages.difference(command.expected, done.stdout)
    return None


def bash(text, at, folder):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "PYTHON", "COLUMNS"))}
    venv = rules.venv(TARGET)
    # What a page lays into the home folder must not land in the user's; toolchains that live there are still found.
    for name, where in rules.IN_HOME.items():
        env.setdefault(name, str(Path.home() / where))
    env.update(
        # The wheel's environment is behind the stand-in, so that `python -m taskscale.observe` is found.
        PATH=os.pathsep.join([str(folder / "bin"), *([str(venv / "bin")] if venv else []), env["PATH"]]),
        TASKSCALE_TOOL=str(TOOL),
        # Probes are built once for all pages, and once for all runs of this test.
        XDG_CACHE_HOME=str(TARGET / "docs-cache"),
        XDG_STATE_HOME=str(folder / "state"),
        CARGO_TARGET_DIR=str(TARGET),
        HOME=str(folder / "home"),
        LC_ALL="C.UTF-8",
        NO_COLOR="1",
    )
    process = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=at,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.communicate()
        return None
    return subprocess.CompletedProcess(text, process.returncode, out, err)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
