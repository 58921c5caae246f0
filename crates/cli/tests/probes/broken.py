"""A probe that is right but for one thing, named by its argument. Tests hold the tool to finding that one thing.

It is written without the SDK on purpose: it breaks rules that the SDK keeps.
"""

import json
import os
import sys
import time

MODE = sys.argv[1] if len(sys.argv) > 1 else "honest"
MARK = sys.argv[2] if len(sys.argv) > 2 else ""  # found again in the process list by the tests
# Names that no line has room for: of letters, of Chinese ones that take two columns, and of what is not seen.
LONG = {"long": "/".join(["w" * 110, "\u666e" * 16, "\u202e\u200b" * 3])}.get(MODE[:4], "")
NAME, VARIANT = ("broken" + LONG, "loop" + LONG)


# Whatever PYTHONUNBUFFERED says: what belongs together leaves in one write, or the tool may look before the second one.
sys.stdout = open(1, "w", buffering=1 << 16, encoding="utf-8", closefd=False)


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    if MODE == "speaks-twice" and message["type"] == "sample":
        sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def describe(request):
    theirs = request.get("protocol")
    if theirs != 1 and MODE != "any-protocol":
        return {"type": "error", "protocol": 1, "message": f"this probe speaks protocol 1, not {theirs}"}
    return {
        "type": "description",
        "protocol": 2 if MODE == "protocol-2" else 1,
        "runtime": {"name": NAME, "language": "python", "version": "1", "toolchain": MODE},
        "clock": {"wall_resolution_ns": 0 if MODE == "no-resolution" else 1, "cpu_resolution_ns": 1},
        "workers": 1,
        "workloads": []
        if MODE == "no-workloads"
        else [
            {
                "name": "fanout",
                "params": [{"name": "order", "default": "ordered", "choices": ["ordered"], "help": "fixed"}],
                "variants": [{"name": VARIANT, "creates_task": False, "only": {"order": ["ordered"]}}],
            }
        ]
        + (INTERP if MODE.startswith("interp-") else []),
    }


# An interpreter that evaluates nothing and says what one would have counted.
INTERP = [
    {
        "name": "interp",
        "params": [{"name": name, "default": 0, "choices": [], "help": "fixed"} for name in ("pause", "depth")],
        "variants": [{"name": "sync", "creates_task": False}],
    }
]


def counted(request):
    """What an instrumented run of `interp` counts, but for the one thing."""
    requests, params = request["size"] * request["iterations"], request.get("params", {})
    each = {"nodes": 1804, "builtins": 603, "applications": 100, "extensions": 101, "suspended": params.get("pause", 0)}
    extra = {name: value * requests for name, value in each.items()}
    extra.update(deepest=8, order="2153812598003189471", output="5476290587449551085", consumed_twice=0)
    wrong = {"interp-skips": ("nodes", 1803 * requests), "interp-overlaps": ("order", "1"), "interp-twice": ("consumed_twice", 1)}
    name, value = wrong.get(MODE, ("deepest", 8))
    if MODE == "interp-no-pause" and params.get("pause"):
        name, value = "suspended", 0
    if params.get("verify"):
        return dict(extra, **{name: value})
    return {}


def interpret(request):
    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    answer = sum(1 for _ in range(request["iterations"]) for _ in range(request["size"]))
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    times = {"wall_ns": wall, "cpu_ns": cpu}
    return dict(times, type="sample", id=request.get("id"), answer=answer, extra=counted(request))


def refusal(request):
    """Why a run cannot be done, or None."""
    if MODE == "accepts-anything":
        return None
    if MODE.startswith("interp-") and (request["workload"], request["variant"]) == ("interp", "sync"):
        return None
    if request["workload"] != "fanout" or request["variant"] != VARIANT:
        return f"this probe offers fanout {VARIANT}, not {request['workload']} {request['variant']}"
    return None


def spawn_stray():
    """A grandchild that left the session and the process group, as a daemon does."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", MARK])
        os._exit(0)


def run(request):
    why = refusal(request)
    if why:
        if MODE == "dies-of-errors":
            raise ValueError(why)
        return {"type": "error", "message": "" if MODE == "empty-errors" else why}
    if request["workload"] == "interp":
        return interpret(request)
    size, iterations = request.get("size", 1), request.get("iterations", 1)
    if MODE == "hang":
        time.sleep(600)
    if MODE == "hang-with-stray":
        spawn_stray()
        time.sleep(600)
    if MODE == "exit":
        sys.exit(3)
    if MODE == "crash":
        os.abort()
    if MODE == "traceback":
        raise RuntimeError("the pool is already shut down")
    if MODE == "fails":
        return {"type": "error", "message": "variant 'loop' failed: the pool is already shut down"}
    if MODE == "junk":
        return "Segfault? no, just a log line"
    if MODE == "log-line":
        sys.stdout.write("connecting to the pool...\n")
    if MODE == "flood":
        while True:
            sys.stdout.write("x" * 65536)
    if MODE == "flood-stderr":
        while True:
            sys.stderr.write("x" * 65536)
    if MODE == "slow-size-7" and size == 7:
        time.sleep(600)

    wall, cpu = time.monotonic_ns(), time.process_time_ns()
    answer = 0
    for _ in range(1 if MODE in ("ignores-iterations", "multiplies") else iterations):
        for i in range(size):
            answer += 31 * i
    if MODE == "multiplies":
        answer *= iterations
    wall, cpu = time.monotonic_ns() - wall, time.process_time_ns() - cpu
    if MODE == "skips-last":
        answer -= 31 * (size - 1)
    if MODE == "boasts-cpu":
        cpu = wall * 64 + 10**9
    if MODE == "boasts-wall":
        wall = wall * 3 + 10**9
    if MODE == "microseconds":
        wall, cpu = wall // 1000, cpu // 1000
    if MODE == "negative-time":
        wall = -1
    sample = {"type": "sample", "id": request.get("id"), "wall_ns": wall, "cpu_ns": cpu, "answer": answer % 2**64}
    if MODE == "other-id":
        sample["id"] = request.get("id", 0) + 1
    if MODE == "no-id":
        del sample["id"]
    if MODE == "no-answer":
        del sample["answer"]
    return sample


def main():
    if MODE == "mute":
        time.sleep(600)
    if MODE == "banner":
        print("Welcome to my probe!", flush=True)
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
            kind = request.get("type")
        except (ValueError, AttributeError, RecursionError) as error:
            if MODE == "dies-of-garbage":
                raise
            say({"type": "error", "message": f"not a request: {error or 'too deep'}"})
            continue
        if kind == "exit":
            if MODE == "stays":
                time.sleep(600)
            return 4 if MODE == "exit-status-4" else 0
        if kind == "describe":
            say(describe(request))
        elif kind == "run":
            say(run(request))
        else:
            say({"type": "error", "message": f"unknown type of request: {kind!r}"})
    return 0


sys.exit(main())
