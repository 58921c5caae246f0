"""`interp`: requests to an interpreter that may suspend, in every encoding that Python has for it.

| module | holds |
|---|---|
| program | the tree, and how it is read |
| values | values, the environment, and the builtins that cannot suspend |
| sync | `sync` |
| coroutines | `async`, `async/sync_caller` |
| tasks | `task`, `task/eager` |
| pending | `hidden`, `union/inlined` |
| union | `union` |
| observe | what an instrumented run counts |
| http | the server |
| workers | threads that share the requests |
"""

import asyncio
import json
from types import CoroutineType

from ...runtimes import drive, unavailable
from ...sdk import param, variant
from . import coroutines, http, pending, sync, tasks, union, workers
from .observe import Count, Once, counted_nodes, together
from .program import PROGRAM, nested, output, parse
from .values import PAUSE, Error

# Which elements of 100 suspend: those that this divides.
EVERY = {0: 0, 6: 15, 100: 1}


def declare(runtime):
    """The workload `interp`. Answer of an iteration: the number of requests with the right output."""
    if runtime != "asyncio":
        return
    lookup = "how a call finds its function: in a dict, or in the tree; the environment is a linked list of tuples"
    param("interp", "lookup", "by_name", lookup, choices=("by_name", "prelinked"))
    param("interp", "pause", 0, "elements of 100 that suspend: 0, 6 (those that 15 divides) or 100")
    param("interp", "depth", 0, "above 0: that many nested lets are evaluated")
    param("interp", "workers", 0, "above 0: that many threads share the requests, each with a loop of its own")
    missing = http.unavailable()
    param(
        "interp",
        "mode",
        "inproc",
        "whether requests are made in the process, or over HTTP to a server of aiohttp",
        choices=("inproc",) if missing else ("inproc", *http.MODES),
        unavailable=missing and dict.fromkeys(http.MODES, missing),
    )
    param("interp", "rate", 50, "http-open: percent of the closed throughput")
    for encoding in ENCODINGS:
        creates_task, missing = encoding.request is spawned, unavailable(runtime, encoding.needs)
        declared = variant("interp", encoding.name, creates_task, unavailable=missing, note=encoding.note)
        declared(performer(runtime, encoding))
    note = "the right bytes without evaluating: what the server costs"
    only = {"mode": list(http.MODES)}
    variant("interp", "constant", False, only=only, unavailable=http.unavailable(), note=note)(constant(runtime))


class Encoding:
    """A way of writing the interpreter: its nodes, and how a request is made to the tree's root. `counted` gives the
    nodes of an instrumented run."""

    def __init__(self, name, note, nodes, request, counted, needs=None):
        self.name, self.note, self.nodes, self.needs = name, note, nodes, needs
        self.request, self.counted = request, counted


# The kinds of requests. `None` is the empty environment.
plain = None


async def evaluated(root):
    return root.eval(None)


async def awaited(root):
    return await root.eval(None)


async def spawned(root):
    return await asyncio.create_task(root.eval(None))


async def maybe(root):
    result = root.eval(None)
    return await result if type(result) in (pending.Pending, CoroutineType, Once) else result


async def either(root):
    return await union.value_of(root.eval(None))


def counted(nodes, wrap=None, spawns=False):
    """The counting nodes of an encoding, for a count. `wrap` makes its pending result of an awaitable."""
    return lambda count: counted_nodes(nodes, count, wrap and wrap(count), spawns)


def counted_pending(count):
    """Those of both encodings that look at the type of a result, for which a counted one is a type too."""
    return counted_nodes(pending.nodes_of(Once, count.once), count, count.once)


def later(count):
    return lambda awaitable: union.Later(count.once(awaitable))


EAGER = "eager_task_factory"
ONCE = lambda count: count.once
ENCODINGS = (
    Encoding(
        "sync",
        "plain recursion; an element that suspends calls time.sleep(0)",
        sync.NODES,
        plain,
        counted(sync.NODES),
    ),
    Encoding(
        "async",
        "a coroutine at every node and builtin",
        coroutines.NODES,
        awaited,
        counted(coroutines.NODES, ONCE),
    ),
    Encoding(
        "async/sync_caller",
        "a coroutine at every node; builtins that cannot suspend are called",
        coroutines.KNOWING_NODES,
        awaited,
        counted(coroutines.KNOWING_NODES, ONCE),
    ),
    Encoding(
        "hidden",
        "a value may be a pending one, which holds a coroutine",
        pending.nodes_of(pending.Pending, pending.Pending),
        maybe,
        counted_pending,
    ),
    Encoding(
        "union",
        "an object says that a value is there, or pending; what follows is a closure",
        union.NODES,
        either,
        counted(union.NODES, later),
    ),
    Encoding(
        "union/inlined",
        "a value or a bare coroutine, looked at where it is used",
        pending.nodes_of(CoroutineType, lambda coroutine: coroutine),
        maybe,
        counted_pending,
    ),
    Encoding("task", "create_task at every node", tasks.NODES, spawned, counted(tasks.NODES, None, True)),
    Encoding(
        "task/eager",
        "create_task with the eager factory at every node",
        tasks.NODES,
        spawned,
        counted(tasks.NODES, None, True),
        EAGER,
    ),
)


def performer(runtime, encoding):
    """Does all iterations of an encoding inside the timed part."""
    trees = {}

    def perform(run):
        key = run.params["lookup"], run.params["depth"]
        counts = [Count() if run.verify else None for _ in range(workers.number(run))]
        if run.verify:
            roots = [tree(encoding.counted(count), *key) for count in counts]
        else:
            # Read once for each program, outside the timed part.
            roots = [trees[key] if key in trees else trees.setdefault(key, tree(encoding.nodes, *key))] * len(counts)
        if run.params["workers"] and run.params["mode"] not in http.MODES:
            timing = performed_together(runtime, encoding, run, roots, counts)
        else:
            timing = performed(runtime, encoding, run, roots[0], counts[0])
        if run.verify:
            timing["extra"].update(together(counts))
        return timing

    return perform


def tree(nodes, lookup, depth):
    if depth:
        return nested(depth, nodes)
    return parse(PROGRAM, nodes, nodes["call"].functions if lookup == "prelinked" else None)


def choose_pauses(run):
    pauses = run.params["pause"]
    if pauses not in EVERY:
        raise LookupError(f"pause is {pauses}; give 0, 6 or 100")
    PAUSE.every = EVERY[pauses]


def performed_together(runtime, encoding, run, roots, counts):
    """Has each worker answer its share of an iteration."""
    choose_pauses(run)
    plans = []
    for root, count, size in zip(roots, counts, workers.shares(run)):
        judged = judge(right_output(run))
        if count:
            judged = watched(judged, count)
            count.request()
        share = answers(root, judged, size) if encoding.request is plain else awaits(encoding.request, root, judged, size)
        plans.append((size, share))
    return workers.together(runtime, run, plans, encoding.request is plain, encoding.needs == EAGER)


def answers(root, judged, size):
    """Answers that many requests, one after the other. Returns how many were right."""
    return lambda: sum(judged(root.eval(None)) for _ in range(size))


def awaits(request, root, judged, size):
    """As `answers`, with a coroutine function."""

    async def share():
        done = 0
        for _ in range(size):
            done += judged(await request(root))
        return done

    return share


def performed(runtime, encoding, run, root, count=None):
    choose_pauses(run)
    right = right_output(run)
    judged = judge(right)
    if count:
        judged = watched(judged, count)
        count.request()
    if run.params.get("mode", "inproc") in http.MODES:
        make = encoding.request or evaluated

        async def answer():
            judged(await make(root))

        timing = http.serve(run, runtime, right, answer, encoding.needs == EAGER)
    elif encoding.request is plain:
        share = answers(root, judged, run.size)
        timing = run.time(lambda _: share())
    else:
        share = awaits(encoding.request, root, judged, run.size)
        timing = drive(runtime, lambda: run.time_async(lambda _: share()), eager=encoding.needs == EAGER)
    return timing


def constant(runtime):
    async def answer():
        pass

    return lambda run: http.serve(run, runtime, right_output(run), answer)


def right_output(run):
    return b"1" if run.params["depth"] else output().encode()


def judge(right):
    """Writes a result, and compares it with the right output."""
    encode = json.JSONEncoder(separators=(",", ":"), default=refuse).encode

    def judged(result):
        written = encode(result).encode()
        if written != right:
            raise LookupError(difference(written, right))
        return 1

    return judged


def watched(judged, count):
    """Keeps the last request's output and order."""

    def watch(result):
        right = judged(result)
        count.answered(json.dumps(result, separators=(",", ":")).encode())
        return right

    return watch


def refuse(value):
    what = value.text if type(value) is Error else type(value).__name__
    raise LookupError(f"a request's output is no value: {what}")


def difference(written, right):
    """Where an output first differs from the right one."""
    at = next((i for i, (one, other) in enumerate(zip(written, right)) if one != other), min(len(written), len(right)))
    got, wanted = (text[at : at + 40].decode(errors="replace") for text in (written, right))
    sizes = f"({len(written)} bytes, right are {len(right)})"
    return f"a request's output differs from byte {at} on: {got!r}, right is {wanted!r} {sizes}"
