"""The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on."""

import json
import os
import sys
import traceback

from .counters import counted
from .describe import PROTOCOL, description
from .request import Run, known


def serve(name, version, workers=1):
    """Serves the declared workloads as runtime `name` until standard input ends or says `exit`. Returns the exit
    status: 0, or 1 where a pipe failed."""

    def describe(message):
        if message["protocol"] == PROTOCOL:
            return description(name, version, workers)
        both = f"the tool speaks protocol {message['protocol']}, this probe of {name} speaks protocol {PROTOCOL}"
        raise LookupError(f"{both}; use a tool and a probe of one release")

    answers = {"describe": describe, "run": run, "exit": None}
    return loop(lambda message: known(answers, message.get("type"), "request type")(message))


def serve_missing(message, remedy):
    """Answers every request with an error that says what is not installed here, and how to get it."""
    return loop(lambda _: {"type": "error", "message": message, "missing": True, "remedy": remedy})


def loop(answer):
    # Whatever a workload prints must not get between the replies.
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in sys.stdin.buffer:
            said = reply(line, answer)
            if said is None:
                break
            output.write(json.dumps(said) + "\n")
            output.flush()
    except OSError as error:
        print(f"probe: standard input or output failed: {error}", file=sys.stderr)
        return 1
    return 0


def reply(line, answer):
    """The reply to a line; None to `exit`. Whatever is raised is this request's failure only."""
    try:
        message = parse(line)
        return None if message.get("type") == "exit" else answer(message)
    except Exception as error:
        text = str(error) if type(error) is LookupError else f"{type(error).__name__}: {error}"
        return {"type": "error", "message": place(error) + hint(error) + text, "protocol": PROTOCOL}


def place(error):
    """Where in the user's own file it came up (`my_probe.py:12: `), if there; then standard error has the traceback."""
    own = os.environ.get("TASKSCALE_PROBE_FILE")
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if os.path.basename(frame.filename) == own]
    if lines:
        traceback.print_exception(type(error), error, error.__traceback__)
    return f"{own}:{lines[-1]}: " if lines else ""


def hint(error):
    """What to do where the loop could not add an answer up: `answer += None`."""
    *_, last = traceback.extract_tb(error.__traceback__)
    if not isinstance(error, TypeError) or os.path.basename(last.filename) != "timing.py":
        return ""
    return "return a number from what `run.time` is given (a coroutine: `run.time_async`): "


def parse(line):
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise LookupError(f"the line is not JSON: {error}") from None


def run(message):
    """Performs a request."""
    run = Run(message)
    with counted(run.counters) as counts:
        timing = run.perform(run)
    if not isinstance(timing, dict):
        raise LookupError(f"return what `run.time` gives: the variant gave {type(timing).__name__}")
    sample = {"type": "sample", "id": run.id, **timing}
    sample["extra"].update(counts)
    if not sample["extra"]:
        del sample["extra"]
    return sample
