"""The loop: a line in, a line out, flushed at once. A request that cannot be done gets an error; the probe lives on."""

import json
import sys

from .describe import PROTOCOL, description
from .request import Refused, Run

# The longest line that is read, in bytes; a request of ours has about 200. The rest of a longer one is skipped, so
# that junk cannot fill the memory.
MAX_LINE = 1 << 20


def serve(name, version, workers=1):
    """Serves the declared workloads as runtime `name` until standard input ends or says `exit`. Returns the exit
    status: 0, or 1 where a pipe failed."""

    def answer(message):
        kind = message.get("type")
        if kind == "describe":
            return _describe(message, name, version, workers)
        if kind == "run":
            return _run(message)
        raise Refused(f"unknown request type {json.dumps(kind)}; known here: describe, run, exit")

    return _loop(answer)


def serve_missing(message, remedy):
    """Answers every request with an error that says what is not installed here, and how to get it."""

    def answer(_):
        return {"type": "error", "message": message, "missing": True, "remedy": remedy}

    return _loop(answer)


def _loop(answer):
    # Whatever a workload prints must not get between the replies.
    output, sys.stdout = sys.stdout, sys.stderr
    try:
        for line in iter(lambda: _read_line(sys.stdin.buffer), b""):
            reply = _reply(line, answer)
            if reply is None:
                break
            output.write(json.dumps(reply) + "\n")
            output.flush()
    except OSError as error:
        print(f"probe: standard input or output failed: {error}", file=sys.stderr)
        return 1
    return 0


def _reply(line, answer):
    """The reply to a line; none to `exit`."""
    try:
        if line is None:
            raise Refused(f"the line is longer than {MAX_LINE} bytes")
        message = _parse(line)
        if message.get("type") == "exit":
            return None
        return answer(message)
    except Refused as refused:
        return {"type": "error", "message": str(refused)}


def _parse(line):
    try:
        message = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Refused(f"the line is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise Refused("the line is not a JSON object")
    return message


def _describe(message, name, version, workers):
    if "protocol" not in message:
        raise Refused('the request has no field "protocol"')
    asked = message["protocol"]
    if asked == PROTOCOL and type(asked) is int:
        return description(name, version, workers)
    text = (
        f"the tool speaks protocol {json.dumps(asked)}, this probe of {name} speaks protocol {PROTOCOL}; "
        "use a tool and a probe of one release"
    )
    return {"type": "error", "message": text, "protocol": PROTOCOL}


def _run(message):
    run = Run(message)
    try:
        timing = run.perform(run)
    except Refused:
        raise
    except Exception as error:  # a workload of the user's may raise anything; it is this request's failure only
        text = f"{type(error).__name__}: {error}"
        raise Refused(f"variant {json.dumps(message['variant'])} failed: {text}") from error
    sample = {"type": "sample", "id": run.id, **timing}
    if not sample["extra"]:
        del sample["extra"]
    return sample


def _read_line(stream):
    """A line with its end; None for one that is too long; nothing at the end of input."""
    line = stream.readline(MAX_LINE + 1)
    if len(line) <= MAX_LINE or line.endswith(b"\n"):
        return line
    while line and not line.endswith(b"\n"):
        line = stream.readline(MAX_LINE)
    return None
