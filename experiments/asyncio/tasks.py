"""What observing asyncio adds to an empty task: all ways interleaved in one process, CPU time, medians and intervals.

    experiments/asyncio/run               on every Python from 3.11 to 3.13 that this machine has, each in a virtual environment
    python experiments/asyncio/tasks.py   on this one; needs taskscale, and viztracer for its row

Each round runs all ways once, in an order of its own. A ratio is that of two passes of the same round; intervals are
order statistics of the rounds that hold the median in 95 % of all cases.
"""

from __future__ import annotations

import argparse
import asyncio
import collections.abc
import contextlib
import cProfile
import functools
import gc
import os
import platform
import random
import statistics
import sys
import time
from math import comb
from typing import Any, Callable, ContextManager, Iterator

import taskscale


async def empty() -> None:
    pass


async def batches(tasks: int, batch: int) -> None:
    create_task = asyncio.create_task
    for _ in range(tasks // batch):
        made = [create_task(empty()) for _ in range(batch)]
        for task in made:
            await task


def timed(tasks: int, batch: int, way: Callable[[asyncio.AbstractEventLoop], ContextManager[Any]]) -> float:
    """CPU nanoseconds per task."""
    loop = asyncio.new_event_loop()
    try:
        with way(loop):
            loop.run_until_complete(batches(batch, batch))
            gc.collect()
            begin = time.thread_time_ns()
            loop.run_until_complete(batches(tasks, batch))
            return (time.thread_time_ns() - begin) / tasks
    finally:
        loop.close()


@contextlib.contextmanager
def plain(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    yield


@contextlib.contextmanager
def ours(loop: asyncio.AbstractEventLoop, queue_delays: bool = False) -> Iterator[None]:
    with taskscale.observe(queue_delays=queue_delays) as d:
        yield
    seen = {name["name"]: name["tasks"] for name in d.data()["names"]["top"]}
    assert seen["empty"] == d.tasks - 2, (seen, d)


@contextlib.contextmanager
def factory(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """A task factory that does nothing of its own: what any observer by a factory pays."""

    def make(loop: asyncio.AbstractEventLoop, coro: Any, **keywords: Any) -> asyncio.Task[Any]:
        return asyncio.Task(coro, loop=loop, **keywords)

    loop.set_task_factory(make)
    yield


class Timed(collections.abc.Coroutine[Any, Any, Any]):
    """Around a coroutine, each step timed: what Python alone can do."""

    __slots__ = ("coro", "histogram")

    def __init__(self, coro: Any, histogram: list[int]) -> None:
        self.coro, self.histogram = coro, histogram

    def send(self, value: Any) -> Any:
        begin = time.perf_counter_ns()
        try:
            return self.coro.send(value)
        finally:
            self.histogram[(time.perf_counter_ns() - begin).bit_length()] += 1

    def throw(self, *error: Any) -> Any:
        return self.coro.throw(*error)

    def close(self) -> None:
        self.coro.close()

    def __await__(self) -> Any:
        return self.coro.__await__()


@contextlib.contextmanager
def wrapper(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    histogram = [0] * 64

    def make(loop: asyncio.AbstractEventLoop, coro: Any, **keywords: Any) -> asyncio.Task[Any]:
        return asyncio.Task(Timed(coro, histogram), loop=loop, **keywords)

    loop.set_task_factory(make)
    yield


@contextlib.contextmanager
def cprofile(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    profile = cProfile.Profile()
    profile.enable()
    try:
        yield
    finally:
        profile.disable()


@contextlib.contextmanager
def viztracer(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    from viztracer import VizTracer  # type: ignore[import-not-found,import-untyped,unused-ignore]

    tracer = VizTracer(verbose=0)
    tracer.start()
    try:
        yield
    finally:
        tracer.stop()
        tracer.clear()


def interval(values: list[float]) -> tuple[float, float]:
    """Order statistics that hold the median in at least 95 % of all cases; the extremes where there are too few."""
    ordered, n = sorted(values), len(values)
    below, rank = 0.0, 0
    while rank < n // 2 and (below := below + comb(n, rank) / 2**n) <= 0.025:
        rank += 1
    rank = max(rank - 1, 0)
    return ordered[rank], ordered[n - 1 - rank]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--tasks", type=int, default=50_000, help="tasks in a pass of the cheap ways")
    parser.add_argument("--batch", type=int, default=10_000, help="tasks alive at once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--queue-delays", action="store_true", help="what taskscale costs with them")
    parser.add_argument("--only", nargs="+", metavar="WAY", help="leave the others out; plain always runs")
    options = parser.parse_args()

    ways: dict[str, Callable[[asyncio.AbstractEventLoop], ContextManager[Any]]] = {
        "plain": plain,
        "plain again": plain,
        # Not a way of its own beside this one: in one process the two change each other's figures.
        "taskscale": functools.partial(ours, queue_delays=options.queue_delays),
        "task factory": factory,
        "Python wrapper": wrapper,
        "cProfile": cprofile,
        "VizTracer": viztracer,
    }
    try:
        import viztracer as _viztracer  # type: ignore[import-not-found,import-untyped,unused-ignore]  # noqa: F401
    except ImportError:
        del ways["VizTracer"]
        print("skipped: VizTracer: not installed (pip install -r experiments/asyncio/requirements.txt)")
    if options.only:
        ways = {name: way for name, way in ways.items() if name == "plain" or name in options.only}
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

    order, draw = list(ways), random.Random(options.seed)
    passes: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        draw.shuffle(order)
        for name in order:
            dear = name in ("cProfile", "VizTracer")
            tasks = max(options.tasks // 5, options.batch) if dear else options.tasks
            passes[name].append(timed(tasks, options.batch, ways[name]))

    python = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"{python}, empty tasks, {options.batch} alive at once, {options.rounds} rounds, CPU time per task")
    print(f"{'':16}{'ns':>8}  {'added, ns':>9} {'95 % interval':>16}  {'ratio':>6} {'95 % interval':>15}")
    for name, values in passes.items():
        added = [mine - base for mine, base in zip(values, passes["plain"])]
        ratio = [mine / base for mine, base in zip(values, passes["plain"])]
        (low, high), (least, most) = interval(added), interval(ratio)
        print(
            f"{name:16}{statistics.median(values):8.0f}  {statistics.median(added):9.0f}"
            f" {f'{low:.0f} to {high:.0f}':>16}  {statistics.median(ratio):6.3f} {f'{least:.3f} to {most:.3f}':>15}"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
