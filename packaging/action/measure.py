"""Measures the head and the base, taking turns; shows the comparison in the job's summary and on the pull request; gates."""

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import github

# Exit status of `taskscale run`: nothing could be measured, or a side could not.
NOTHING = 2


class Unusable(Exception):
    """An input or the repository does not allow it; the text says what to do."""


def given(name):
    return os.environ.get(f"INPUT_{name.upper()}", "").strip()


def said(name):
    """An input that is yes or no."""
    answer = given(name).lower() or "yes"
    if answer not in ("yes", "no", "true", "false"):
        raise Unusable(f"the input {name} is {answer!r}: say yes or no")
    return answer in ("yes", "true")


def main():
    try:
        return measured()
    except Unusable as error:
        github.notice("error", str(error))
        return NOTHING


def measured():
    # The code that is measured does not get what may comment.
    token = os.environ.pop("INPUT_TOKEN", "")
    head = Path(os.environ.get("GITHUB_WORKSPACE") or os.getcwd())
    comments, gates = said("comment"), said("gate")
    with tempfile.TemporaryDirectory(dir=os.environ.get("RUNNER_TEMP")) as folder:
        base = checkout(head, Path(folder) / "base")
        try:
            text, status, verdict = compared(head, base)
        finally:
            if base:
                git(head, "worktree", "remove", "--force", str(base))
    heading = given("title") or "taskscale"
    text = f"## {heading}\n\n{text}\n"
    github.summary(text + folded("What blurs figures on this runner", tool(head, "doctor", "--format", "md")))
    github.output("verdict", verdict)
    if comments:
        publish(heading, text, token)
    if status == 1 and not gates:
        github.notice("warning", "a row is worse; gate: no lets the job pass")
        return 0
    return status


def compared(head, base):
    """The text, the exit status of the gate, and a word for it."""
    for folder in filter(None, (head, base)):
        if given("build") and subprocess.run(["bash", "-c", given("build")], cwd=folder, check=False).returncode:
            if folder == head:
                raise Unusable("the input build failed in the head")
            github.notice("warning", "the input build failed in the base, so only the head is measured")
            base = None
    probes = [line.strip() for line in given("probe").splitlines() if line.strip()]
    old = [probe for probe in probes if base and is_in(probe, base)]
    new = [probe for probe in probes if probe not in old]
    own = "--against" in given("args").split()
    note = ""
    if old or own:
        text, status, samples = run(head, old + new, [placed(probe, base) for probe in old])
        if status in (0, 1):
            if new:
                note = f"New here, and so without comparison: {', '.join(f'`{probe}`' for probe in new)}.\n\n"
                text += folded("All figures, the new ones too", tool(head, "report", str(samples), "--format", "md"))
            return note + text, status, "worse" if status else "not-worse"
        note = f"The base could not be measured, so this is the head alone: {text.strip().splitlines()[-1] if text.strip() else 'see the log'}\n\n"
        github.notice("warning", note.strip())
    elif probes:
        note = "There is nothing to compare with: " + ("the base has none of these benchmarks.\n\n" if base else "no base is known.\n\n")
    text, status, _ = run(head, probes, [])
    if status:
        raise Unusable(f"taskscale run ended with status {status}: {text.strip()}")
    return note + text, 0, "none"


def run(head, probes, against):
    """What `taskscale run` printed, or where that is nothing its last words; its exit status; the run file."""
    samples = Path(os.environ.get("RUNNER_TEMP") or tempfile.gettempdir()) / f"taskscale-{os.getpid()}-{len(against)}.taskscale.jsonl"
    try:
        command = [given("command"), "run", *shlex.split(given("suite") or "fanout"), *shlex.split(given("args"))]
    except ValueError as error:
        raise Unusable(f"the inputs suite and args cannot be read: {error}") from error
    for probe in probes:
        command += ["--probe", placed(probe, head)]
    for probe in against:
        command += ["--against", probe]
    if against:
        command += ["--threshold", given("threshold") or "1%"]
    command += ["--output", str(samples), "--format", "md"]
    print("+", shlex.join(command), flush=True)
    try:
        done = subprocess.run(command, cwd=head, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Unusable(f"{command[0]} cannot be run: {error.strerror}") from error
    print(done.stderr, flush=True)
    if done.returncode in (0, 1):
        github.output("run", samples)
    # Words are broken at the width of a terminal; what follows is indented.
    return done.stdout.strip() or done.stderr.replace("\n  ", " "), done.returncode, samples


def tool(head, *words):
    """What another command of taskscale prints; nothing where it fails."""
    try:
        done = subprocess.run([given("command"), *words], cwd=head, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def folded(title, text):
    return f"\n\n<details><summary>{title}</summary>\n\n{text}\n\n</details>\n" if text else ""


def is_in(probe, checkout):
    """Whether a checkout has the probe: the file, or all files of the command that lie in it."""
    if "{}" not in probe:
        return (checkout / probe).exists()
    words = [word.replace("{}", str(checkout)) for word in shlex.split(probe) if "{}" in word]
    return all(Path(word).exists() for word in words)


def placed(probe, checkout):
    """The probe as `taskscale run` finds it."""
    if "{}" in probe:
        return probe.replace("{}", shlex.quote(str(checkout)))
    return str(checkout / probe) if (checkout / probe).exists() else probe


def checkout(head, folder):
    """A folder with the base; None where there is none to compare with."""
    commit = base_commit(head)
    if not commit:
        return None
    if git(head, "cat-file", "-e", f"{commit}^{{commit}}").returncode:
        # The head alone was checked out.
        fetch = git(head, "fetch", "--quiet", "--depth=1", "origin", commit)
        if git(head, "cat-file", "-e", f"{commit}^{{commit}}").returncode:
            fetched = git(head, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}")
            if fetched.returncode:
                why = f" (git: {fetch.stderr.strip()})" if fetch.returncode else ""
                raise Unusable(f"the baseline {commit} is not in the repository{why}: check out with fetch-depth: 0")
            commit = fetched.stdout.strip()
    made = git(head, "worktree", "add", "--quiet", "--detach", str(folder), commit)
    if made.returncode:
        raise Unusable(f"the baseline {commit} cannot be checked out: {made.stderr.strip()}")
    return folder


def base_commit(head):
    """The baseline that is asked for; else what the pull request is merged into, or was there before a push."""
    if given("baseline"):
        if given("baseline").startswith("-"):
            raise Unusable(f"{given('baseline')} is no commit, branch or tag")
        return given("baseline")
    event = github.event()
    if "pull_request" in event:
        # GitHub checks out the merge, whose first parent is as new as the branch.
        about = git(head, "cat-file", "-p", "HEAD").stdout.splitlines()
        parents = [line.split()[1] for line in about if line.startswith("parent ")]
        return parents[0] if len(parents) == 2 else event["pull_request"]["base"]["sha"]
    before = event.get("before") or ""
    return before if before.strip("0") else None


def publish(heading, text, token):
    """Comments on the pull request, where there is one and the token may."""
    number = github.event().get("pull_request", {}).get("number")
    if not number:
        return
    marker = f"<!-- taskscale: {heading.replace('--', '')} -->"
    try:
        print("comment:", github.comment(number, marker, text, token))
    except github.Refused as error:
        why = f"The comparison is only here and not on the pull request: GitHub refused the comment ({error})."
        what = "The job needs `permissions: pull-requests: write`; pull requests from forks do not get it."
        github.summary(f"\n{why} {what}\n")
        github.notice("warning", f"{why} {what}")


def git(folder, *words):
    return subprocess.run(["git", "-C", str(folder), *words], capture_output=True, text=True, check=False)
