"""Runs steps, as many at a time as there are processors, each behind those it builds upon."""

import os
import re
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field

import show
from outcomes import FAILED, PASSED, Outcome, Reader
from steps import ROOT, TARGET

# Between two signs of life on a terminal that cannot be rewritten.
QUIET_S = 30
# Tells a step's command that its build came before.
BUILT = {"TASKSCALE_BUILT": "yes"}
# What a user has set for programs of their own, and what would change how those of the tests behave.
OF_THE_USER = re.compile(
    r"PYTHON(?!HOME)|GO(FLAGS|DEBUG|MAXPROCS|GC)$|(JAVA_TOOL|JDK_JAVA|_JAVA|NODE)_OPTIONS$|(CXX|C|LD|RUST)FLAGS$"
    r"|OMP_|RAYON_|TOKIO_|UV_|MALLOC_|LD_PRELOAD$|XDG_|COLUMNS$|NO_COLOR$|CLICOLOR|TASKSCALE_|LC_|LANG"
)


@dataclass
class Result:
    """What came out of one step."""

    step: str
    reader: Reader = field(default_factory=Reader)
    seconds: float = 0.0
    cpu_s: float = 0.0
    log: str = ""

    @property
    def outcomes(self):
        return self.reader.outcomes

    def count(self, status):
        return sum(outcome.status == status for outcome in self.outcomes.values())

    def failed(self):
        return [outcome for outcome in self.outcomes.values() if outcome.status == FAILED]


# Process groups of the commands that run.
RUNNING = set()
# Whether the whole run was interrupted.
STOPPED = threading.Event()


def run(steps, build=True, verbose=False, lanes=None, prefix=(), logs=None, quiet=False, results=None):
    """The results of the steps, also in `results` as they come. `prefix` goes before each command: `taskset -c 0`."""
    results = [] if results is None else results
    os.umask(0o022)
    logs = logs or TARGET / "test-logs"
    logs.mkdir(parents=True, exist_ok=True)
    waiting, done, ended = list(steps), set(), set()
    names = {step.name for step in steps}
    change = threading.Condition()

    def next_step():
        for step in waiting:
            is_built = all(name in done or name not in names for name in step.after)
            is_free = all(name in ended or name not in names for name in step.behind)
            if (is_built and is_free) or not build:
                return step
        return None

    def lane():
        while True:
            with change:
                step = next_step()
                while step is None and waiting:
                    change.wait()
                    step = next_step()
                if step is None or STOPPED.is_set():
                    return
                waiting.remove(step)
            results.append(run_step(step, build, verbose, prefix, logs, quiet, lambda: known(done, step)))
            known(ended, step)

    def known(steps, step):
        with change:
            steps.add(step.name)
            change.notify_all()

    count = lanes or min(2, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2)
    threads = [threading.Thread(target=lane, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():
            thread.join(0.2)
    return results


def stop():
    """Ends the commands that run, each with its group, and begins no other: an interrupted run must not go on behind
    the scenes."""
    STOPPED.set()
    for pid in list(RUNNING):
        try:
            os.killpg(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def run_step(step, build, verbose, prefix, logs, quiet, built):
    """Builds and runs one step; all that it says goes to a file beside."""
    begun = time.monotonic()
    log = logs / f"{step.name}.log"
    result = Result(step.name, log=str(log))
    with open(log, "w", encoding="utf-8", errors="replace") as file:
        status = 0
        if build and step.build:
            status = execute(step, step.build, prefix, file, result, verbose, quiet)
        built()
        if status == 0:
            status = execute(step, step.run, prefix, file, result, verbose, quiet, BUILT)
    result.seconds = time.monotonic() - begun
    if status != 0 and not result.failed():
        why = f"exit status {status}; the end of what it said:\n{show.tail(log)}"
        result.outcomes[step.name] = Outcome(step.name, FAILED, why)
    if not result.outcomes:
        result.outcomes[step.name] = Outcome(step.name, PASSED if status == 0 else FAILED)
    if not quiet:
        show.step(result)
    return result


def execute(step, command, prefix, log, result, verbose, quiet, more=None):
    """Runs a command, reads what it says, adds its CPU time; gives its exit status."""
    env = {name: value for name, value in os.environ.items() if not OF_THE_USER.match(name)}
    env.update({"LC_ALL": "C.UTF-8", "CARGO_TARGET_DIR": str(TARGET), "CARGO_TERM_COLOR": "never"}, **step.env, **(more or {}))
    process = subprocess.Popen(
        [*prefix, "bash", "-c", command],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        # A group of its own, so that an interruption ends it with all that it started.
        start_new_session=True,
    )
    RUNNING.add(process.pid)
    spoken = time.monotonic()
    for line in process.stdout:
        log.write(line)
        log.flush()
        result.reader.line(line)
        if verbose:
            show.said(step.name, line)
        elif not quiet and time.monotonic() - spoken > QUIET_S:
            spoken = time.monotonic()
            show.alive(step.name, len(result.outcomes), line)
    _, status, used = os.wait4(process.pid, 0)
    RUNNING.discard(process.pid)
    process.returncode = os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
    result.cpu_s += used.ru_utime + used.ru_stime
    return process.returncode
