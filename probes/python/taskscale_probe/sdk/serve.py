"""The loop: a line in, a line out, flushed at once. What cannot be done gets an error; the probe lives on."""

import json
import sys

from .describe import PROTOCOL, description
from .request import Refused, Run, known


def serve(name, version, workers=1):
    """Serves the declared workloads as runtime `name` until standard input ends or says `exit`. Returns the exit
    status: 0, or 1 where a pipe failed."""
    answers = {"describe": lambda message: describe(message, name, version, workers), "run": run, "exit": None}
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
    """The reply to a line; None to `exit`."""
    try:
        message = parse(line)
        return None if message.get("type") == "exit" else answer(message)
    except Refused as refused:
        return {"type": "error", "message": str(refused)}
    except Exception as error:  # a field that is not there, or of another kind: sent by hand, never by the tool
        return {"type": "error", "message": f"the request cannot be read: {error!r}"}


def parse(line):
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(f"the line is not JSON: {error}") from None


def describe(message, name, version, workers):
    """What the probe says of itself, to a tool that speaks its protocol."""
    asked = message["protocol"]
    if asked == PROTOCOL:
        return description(name, version, workers)
    text = f"the tool speaks protocol {json.dumps(asked)}, this probe of {name} speaks protocol {PROTOCOL}"
    text += "; use a tool and a probe of one release"
    return {"type": "error", "message": text, "protocol": PROTOCOL}


def run(message):
    """Performs a request. What a workload raises is this request's failure only."""
    run = Run(message)
    try:
        timing = run.perform(run)
    except Exception as error:
        text = f"{type(error).__name__}: {error}"
        raise Refused(f"variant {json.dumps(message['variant'])} failed: {text}") from error
    sample = {"type": "sample", "id": run.id, **timing}
    if not sample["extra"]:
        del sample["extra"]
    return sample
