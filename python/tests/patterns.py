"""Makes each diagnosis happen in real programs, and counts how often it is named right.

    python tests/patterns.py [--runs 20] [--only NAME]     in an environment that has taskscale

Each run is a process of its own; the programs take turns. It asks for a higher priority, where it may have one, since a run that
was kept waiting by what else the machine does says PREEMPTED or INCONCLUSIVE, as it should: such runs are counted by
themselves. Exit status 1 where a program was named right in fewer than 19 of 20 of the other runs, or most were kept waiting.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import concurrent.futures
import contextlib
import json
import os
import platform
import random
import subprocess
import sys
import time
from typing import Any


def burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


# asyncio: one loop, so one worker.


async def handlers() -> None:
    """A service whose handlers take 0.2 ms each: nothing to gain."""

    async def handler() -> None:
        for _ in range(10):
            burn(0.0002)
            await asyncio.sleep(0)

    for _ in range(10):
        await asyncio.gather(*(handler() for _ in range(50)))


async def blocking_call() -> None:
    """The same, and every so often one of them calls what blocks."""

    async def handler(number: int) -> None:
        burn(0.0002)
        await asyncio.sleep(0)
        if number % 100 == 99:
            time.sleep(0.15)
        await asyncio.sleep(0)

    for batch in range(8):
        await asyncio.gather(*(handler(number) for number in range(batch * 100, batch * 100 + 100)))


async def blocking_work() -> None:
    """A report is computed in a coroutine, while others wait for their turn."""

    async def ticks() -> None:
        while not done.is_set():
            burn(0.0005)
            await asyncio.sleep(0.0005)

    async def report() -> None:
        for _ in range(5):
            sorted(range(4_000_000), key=lambda n: -n)
            await asyncio.sleep(0.02)
        done.set()

    done = asyncio.Event()
    await asyncio.gather(ticks(), ticks(), report())


async def small_messages() -> None:
    """Producer and consumers hand over one number at a time."""

    async def consumer() -> None:
        while await queue.get() is not None:
            pass

    async def producer() -> None:
        for number in range(60_000):
            await queue.put(number)
        for _ in consumers:
            await queue.put(None)

    queue: asyncio.Queue[Any] = asyncio.Queue(1)
    consumers = [asyncio.create_task(consumer()) for _ in range(3)]
    await asyncio.gather(producer(), *consumers)


async def yields() -> None:
    """A long computation that gives way after each of its small parts."""

    async def part() -> None:
        for _ in range(5_000):
            await asyncio.sleep(0)

    await asyncio.gather(*(part() for _ in range(50)))


async def waiting() -> None:
    """Three requests at a time to something slow: the loop has nothing to do."""

    async def request() -> None:
        for _ in range(10):
            await asyncio.sleep(0.08)
            burn(0.001)

    await asyncio.gather(*(request() for _ in range(3)))


# Pools: as many workers as threads. Work that waits, so that threads need no processor of their own.


def pool_even() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: time.sleep(0.005), range(800)))


def pool_straggler() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(time.sleep, [0.005] * 400 + [0.8]))


def pool_stages() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            list(pool.map(lambda _: time.sleep(0.005), range(40)))
            for _ in range(10):
                pool.submit(time.sleep, 0.02).result()


def pool_coarse() -> None:
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(time.sleep, [0.4] * 5))


PROGRAMS: dict[str, tuple[str, Any]] = {
    "handlers": ("HEALTHY", handlers),
    "blocking_call": ("EVENT_LOOP_BLOCKED", blocking_call),
    "blocking_work": ("EVENT_LOOP_BLOCKED", blocking_work),
    "small_messages": ("SCHEDULING_OVERHEAD", small_messages),
    "yields": ("SCHEDULING_OVERHEAD", yields),
    "waiting": ("OUTSIDE_RUN", waiting),
    "pool_even": ("HEALTHY", pool_even),
    "pool_straggler": ("STRAGGLER_TASKS", pool_straggler),
    "pool_stages": ("SERIAL_BOTTLENECK", pool_stages),
    "pool_coarse": ("UNDER_DECOMPOSITION", pool_coarse),
}


def child(name: str) -> None:
    import taskscale

    with contextlib.suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    program = PROGRAMS[name][1]
    with taskscale.observe() as d:
        if asyncio.iscoroutinefunction(program):
            asyncio.run(program())
        else:
            program()
    seen = d if d.tasks else d.pools
    json.dump(
        {
            "pattern": seen.patterns[0].name,
            "preempted": seen.data()["losses"]["preempted"],
            "where": [f"{place.coroutine}:{place.line}" for place in d.blocked][:1],
            "text": str(seen),
        },
        sys.stdout,
    )


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--verbose", action="store_true", help="show the digests that are wrong")
    options = parser.parse_args()
    seen: dict[str, list[dict[str, Any]]] = {name: [] for name in options.only}
    for number in range(options.runs):
        for name in random.Random(number).sample(options.only, len(options.only)):
            done = subprocess.run([sys.executable, "-P", __file__, "--child", name], capture_output=True, text=True)
            if done.returncode != 0:
                print(done.stderr, file=sys.stderr)
                return 2
            seen[name].append(json.loads(done.stdout))
    enough = True
    print(f"Python {platform.python_version()}, {options.runs} runs each")
    for name, runs in seen.items():
        wanted, others = PROGRAMS[name][0], collections.Counter(run["pattern"] for run in runs)
        right = others.pop(wanted, 0)
        # A tenth is what is worth naming.
        kept = sum(run["pattern"] in ("PREEMPTED", "INCONCLUSIVE") and run["preempted"] >= 0.1 for run in runs)
        enough = enough and right * 20 >= 19 * (len(runs) - kept) and right * 2 >= len(runs)
        most = max(run["preempted"] for run in runs)
        where = collections.Counter(place for run in runs for place in run["where"]).most_common(1)
        print(f"{name:15} {wanted:20} {right:3} of {len(runs) - kept}, {kept} kept waiting, preempted at most {most:4.0%}  {dict(others) or ''} {where or ''}")
        for run in runs:
            if options.verbose and run["pattern"] != wanted:
                print(run["text"])
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
