"""A probe that turns on the tool at one step of the protocol, named by its argument.

`broken.py` breaks a rule that the SDK keeps. This one lies, hangs, floods or dies: the tool contains it and goes on.
The second argument is found again in the list of processes.
"""

import json
import os
import signal
import sys
import time

MODE = sys.argv[1]
MARK = sys.argv[2] if len(sys.argv) > 2 else ""
OUT = open(1, "wb", buffering=0, closefd=False)
ERR = open(2, "wb", buffering=0, closefd=False)
AGES = 600


def sleep():
    while True:
        time.sleep(AGES)


def child(then):
    """A process beside this one, which then does that and ends."""
    if os.fork() == 0:
        then()
        os._exit(0)


def stray():
    """A grandchild that leaves the session and the process group, as a daemon does."""

    def leave():
        os.setsid()
        child(lambda: os.execv(sys.executable, [sys.executable, "-c", f"import time; time.sleep({AGES})", MARK]))

    child(leave)


def description(**changed):
    variant = {"name": "loop", "creates_task": False, "only": {"order": ["ordered"]}}
    order = {"name": "order", "default": "ordered", "choices": ["ordered"], "help": "fixed"}
    whole = {
        "type": "description",
        "protocol": 1,
        "runtime": {"name": "hostile", "language": "python", "version": "1"},
        "clock": {"wall_resolution_ns": 1, "cpu_resolution_ns": 1},
        "workloads": [{"name": "fanout", "params": [order], "variants": [variant]}],
    }
    return {**whole, **changed}


def sample(request, **changed):
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    size, iterations = request["size"], request["iterations"]
    answer = iterations * 31 * (size * (size - 1) // 2)
    total = 0
    for _ in range(iterations):
        for i in range(size):
            total += 31 * i
    cpu, wall = time.process_time_ns() - cpu, time.monotonic_ns() - wall
    whole = {"type": "sample", "id": request["id"], "wall_ns": wall, "cpu_ns": cpu, "answer": answer % 2**64}
    if request.get("params", {}).get("verify"):
        whole["extra"] = {"executed": size * iterations}
    return {**whole, **changed}


def line(message):
    return json.dumps(message).encode() + b"\n"


def half(message):
    whole = line(message)
    return whole[: len(whole) // 2]


def write(data):
    while data:
        data = data[OUT.write(data) :]


def gigabyte():
    block = b"x" * (1 << 20)
    for _ in range(1024):
        ERR.write(block)


def endless(block):
    while True:
        write(block)


def end(status=0):
    os._exit(status)


def die(number):
    os.kill(os.getpid(), number)
    sleep()


def without(message, name):
    return {key: value for key, value in message.items() if key != name}


def raw(message, old, new):
    """The line of a message with a piece of its text replaced, which no library would write."""
    whole = line(message)
    assert old in whole, whole
    return whole.replace(old, new, 1)


def close_and_live(descriptor):
    os.close(descriptor)
    sleep()


def stray_and_die():
    stray()
    time.sleep(0.2)
    end(3)


def many_children():
    for _ in range(50):
        child(sleep)
    sleep()


def pipe_held_by_a_child():
    child(sleep)
    end(0)


def ignored():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    sleep()


# What it does instead of describing itself.
DESCRIBE = {
    "ends": lambda: end(0),
    "fails": lambda: end(3),
    "is-killed": lambda: die(signal.SIGKILL),
    "faults": lambda: die(signal.SIGSEGV),
    "half-a-line": lambda: (write(half(description())), end(0)),
    "invalid-utf-8": lambda: write(raw(description(), b"hostile", b"hos\xff\xfetile")),
    "utf-16": lambda: write(json.dumps(description()).encode("utf-16") + b"\n"),
    "a-mark-before": lambda: write(b"\xef\xbb\xbf" + line(description())),
    "a-list": lambda: write(b"[]\n"),
    "a-number": lambda: write(b"5\n"),
    "null": lambda: write(b"null\n"),
    "an-empty-line": lambda: write(b"\n" + line(description())),
    "zeros": lambda: write(b"\0" * 4096 + line(description())),
    "depth": lambda: write(b"[" * 100_000 + b"\n"),
    "a-line-of-2-mib": lambda: write(b'"' + b"x" * (2 << 20) + b'"\n'),
    "200000-variants": lambda: write(
        line(description(workloads=[{"name": "fanout", "variants": [{"name": str(i), "creates_task": False} for i in range(200_000)]}]))
    ),
    "a-sample": lambda: write(line({"type": "sample", "wall_ns": 1, "cpu_ns": 1, "answer": 0})),
    "a-type-that-is-a-number": lambda: write(line({"type": 7})),
    "an-unknown-type": lambda: write(line({"type": "greeting"})),
    "protocol-as-a-word": lambda: write(line(description(protocol="1"))),
    "protocol-of-30-digits": lambda: write(line(description(protocol=10**30))),
    "protocol-minus-one": lambda: write(line(description(protocol=-1))),
    "workloads-as-an-object": lambda: write(line(description(workloads={}))),
    "variants-as-numbers": lambda: write(line(description(workloads=[{"name": "fanout", "variants": [1, 2]}]))),
    "a-resolution-of-a-half": lambda: write(line(description(clock={"wall_resolution_ns": 0.5, "cpu_resolution_ns": 1}))),
    "no-runtime": lambda: write(line(without(description(), "runtime"))),
    "no-clock": lambda: write(line(without(description(), "clock"))),
    "a-member-twice": lambda: write(raw(description(), b'"protocol": 1', b'"protocol": 1, "protocol": 1')),
    "closes-its-output": lambda: close_and_live(1),
    "floods-errors": lambda: (gigabyte(), write(line(description()))),
    "floods": lambda: endless(b"x" * 65536),
    "floods-lines": lambda: endless(b"{}\n" * 20_000),
    "dies-beside-a-stray": stray_and_die,
    "python-not-json": lambda: write(str(description()).encode() + b"\n"),
    "missing-without-words": lambda: write(line({"type": "error", "missing": True})),
    "an-error-that-is-a-number": lambda: write(line({"type": "error", "message": 7})),
    "an-error-that-drives-the-terminal": lambda: write(line({"type": "error", "message": "no\x1b[2J\x1b]0;x\x07\u202e\n\u200b way"})),
    "an-error-of-900-kb": lambda: write(line({"type": "error", "message": "no way " * 128_000})),
}

# What it does instead of answering a run.
RUN = {
    "ends": lambda r: end(0),
    "fails": lambda r: end(3),
    "is-killed": lambda r: die(signal.SIGKILL),
    "faults": lambda r: die(signal.SIGSEGV),
    "hangs": lambda r: sleep(),
    "stops-itself": lambda r: die(signal.SIGSTOP),
    "hangs-and-ignores-signals": lambda r: ignored(),
    "hangs-with-a-stray": lambda r: (stray(), sleep()),
    "hangs-with-50-children": lambda r: many_children(),
    "half-a-line": lambda r: (write(half(sample(r))), end(0)),
    "half-a-line-and-hangs": lambda r: (write(half(sample(r))), sleep()),
    "ends-while-a-child-holds-the-pipe": lambda r: pipe_held_by_a_child(),
    "dies-beside-a-stray": lambda r: stray_and_die(),
    "invalid-utf-8": lambda r: write(raw(sample(r), b'"sample"', b'"sam\xffple"')),
    "an-answer-that-is-a-fraction": lambda r: write(line(sample(r, answer=0.5))),
    "an-answer-of-40-digits": lambda r: write(line(sample(r, answer=10**40))),
    "an-answer-below-zero": lambda r: write(line(sample(r, answer=-1))),
    "an-answer-that-is-null": lambda r: write(line(sample(r, answer=None))),
    "an-answer-that-is-a-list": lambda r: write(line(sample(r, answer=[1]))),
    "an-answer-of-another-size": lambda r: write(line(sample(r, answer=7))),
    "a-time-of-2-to-64": lambda r: write(line(sample(r, wall_ns=2**64))),
    "a-time-of-2-to-64-less-1": lambda r: write(line(sample(r, wall_ns=2**64 - 1))),
    "a-time-that-is-a-word": lambda r: write(line(sample(r, wall_ns="1"))),
    "a-time-that-is-a-fraction": lambda r: write(line(sample(r, cpu_ns=1.5))),
    "a-time-that-is-no-number": lambda r: write(line(sample(r, cpu_ns=float("nan")))),
    "a-time-without-end": lambda r: write(line(sample(r, cpu_ns=float("inf")))),
    "no-cpu-time": lambda r: write(line(without(sample(r), "cpu_ns"))),
    "cpu-time-of-a-year": lambda r: write(line(sample(r, cpu_ns=365 * 86_400 * 10**9))),
    "an-id-that-is-a-word": lambda r: write(line(sample(r, id=str(r["id"])))),
    "the-id-before": lambda r: write(line(sample(r, id=r["id"] - 1))),
    "an-id-of-30-digits": lambda r: write(line(sample(r, id=10**30))),
    "a-description-again": lambda r: write(line(description())),
    "a-list": lambda r: write(line([sample(r)])),
    "an-empty-line": lambda r: write(b"\n"),
    "words-behind": lambda r: write(line(sample(r))[:-1] + b" done\n"),
    "an-answer-twice": lambda r: write(line(sample(r)) * 2),
    "an-answer-to-the-next": lambda r: write(line(sample(r)) + line(sample(r, id=r["id"] + 1))),
    "an-error-that-is-a-list": lambda r: write(line({"type": "error", "message": ["no"]})),
    "an-error-that-drives-the-terminal": lambda r: write(line({"type": "error", "message": "no\x1b[2J\x1b]0;x\x07\u202e\n\u200b way"})),
    "an-error-as-long-as-a-line-may-be": lambda r: write(line({"type": "error", "message": "x" * ((1 << 20) - 60)})),
    "an-error-of-900-kb": lambda r: write(line({"type": "error", "message": "no way " * 128_000})),
    "floods": lambda r: endless(b"x" * 65536),
    "floods-lines": lambda r: endless(b"{}\n" * 20_000),
    "floods-errors": lambda r: (gigabyte(), write(line(sample(r)))),
    "closes-its-output": lambda r: close_and_live(1),
    "an-extra-that-is-a-list": lambda r: write(line(sample(r, extra=[1]))),
}


def main():
    if MODE == "before/speaks-first":
        write(line(description()))
    if MODE == "before/closes-its-input":
        os.close(0)
        sleep()
    step, _, what = MODE.partition("/")
    runs = 0
    for text in sys.stdin.buffer:
        request = json.loads(text)
        if request["type"] == "exit":
            return
        if request["type"] == "describe":
            if step == "describe":
                DESCRIBE[what]()
            else:
                write(line(description()))
            continue
        runs += 1
        # The first answers are right for one that turns late.
        if step == "run" or (step == "late" and runs == 3):
            RUN[what](request)
        else:
            write(line(sample(request)))


if MODE == "--list":
    names = [f"describe/{name}" for name in DESCRIBE] + [f"run/{name}" for name in RUN]
    print("\n".join(names + ["before/speaks-first", "before/closes-its-input"]))
else:
    main()
