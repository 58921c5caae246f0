"""`blocking`: `size` tasks, started at once, of which one in so many blocks for a while: what do the others wait?

A task tells how long it was ready before it ran. The one that blocks sleeps in the system, on the thread of the loop, or
wherever the variant has such a call done."""

import asyncio
import time

from ..runtimes import drive, unavailable
from ..sdk import param, variant
from ..sdk.clock import wall_ns

LOOPS = ("asyncio", "uvloop")


def declare(runtime):
    """The workload `blocking` with the variants of `runtime`. Answer of an iteration: the number of tasks done."""
    param("blocking", "block_us", 1000, "how long a task blocks that does, in microseconds")
    param("blocking", "every", 100, "one task in so many blocks, the first of them")
    for name, runtimes, needs, block, note in FORMS:
        if runtime in runtimes:
            here = unavailable(runtime, needs)
            variant("blocking", name, unavailable=here, note=note)(performer(runtime, block))


def performer(runtime, block):
    """Does all iterations in one loop."""
    start = started if runtime in LOOPS else nursed

    def perform(run):
        bursts = []

        def setup():
            bursts.append(Burst(run, block))
            return bursts[-1]

        async def one(_phases, burst):
            await start(runtime, burst)
            return len(burst.waits)

        async def main():
            return await run.time_each_async(setup, one)

        return told(drive(runtime, main), bursts)

    return perform


class Burst:
    """One iteration."""

    def __init__(self, run, block):
        self.size, self.every = run.size, run.params["every"]
        self.lasts, self.block = run.params["block_us"] / 1e6, block
        self.waits, self.blocked = [], 0

    def blocks(self):
        """Whether each task blocks, in the order in which they are started."""
        return (self.block is not None and task % self.every == 0 for task in range(self.size))

    async def task(self, ready, blocks):
        self.waits.append(wall_ns() - ready)
        if blocks:
            await self.block(self.lasts)
            self.blocked += 1


def told(sample, bursts):
    """The sample with what the tasks of all iterations waited."""
    waits = sorted(wait for burst in bursts for wait in burst.waits)

    def least(percent):
        return waits[-(-len(waits) * percent // 100) - 1]

    extra = dict(wait_p50_ns=least(50), wait_p99_ns=least(99), wait_max_ns=least(100))
    sample["extra"].update(extra, blocked=sum(burst.blocked for burst in bursts))
    return sample


async def started(_runtime, burst):
    """`create_task`, then each awaited."""
    create_task, task = asyncio.create_task, burst.task
    tasks = [create_task(task(wall_ns(), blocks)) for blocks in burst.blocks()]
    for one in tasks:
        await one


async def nursed(runtime, burst):
    """A nursery of trio, or a task group of anyio."""
    library = __import__(runtime)
    opening = library.open_nursery() if runtime == "trio" else library.create_task_group()
    async with opening as group:
        start_soon, task = group.start_soon, burst.task
        for blocks in burst.blocks():
            start_soon(task, wall_ns(), blocks)


async def inline(lasts):
    time.sleep(lasts)


async def to_thread(lasts):
    await asyncio.to_thread(time.sleep, lasts)


async def trio_thread(lasts):
    import trio

    await trio.to_thread.run_sync(time.sleep, lasts)


async def trio_sleep(lasts):
    import trio

    await trio.sleep(lasts)


async def anyio_thread(lasts):
    import anyio.to_thread

    await anyio.to_thread.run_sync(time.sleep, lasts)


async def anyio_sleep(lasts):
    import anyio

    await anyio.sleep(lasts)


EVERYWHERE = (*LOOPS, "trio", "anyio")
FORMS = (
    ("without", EVERYWHERE, None, None, "no task blocks"),
    ("inline", EVERYWHERE, None, inline, "time.sleep on the thread of the loop"),
    ("to_thread", LOOPS, "to_thread", to_thread, "on a thread of the loop's executor, and awaited"),
    ("sleep", LOOPS, None, asyncio.sleep, "no thread blocks: the loop's timer"),
    ("to_thread.run_sync", ["trio"], None, trio_thread, "on a worker thread, and awaited"),
    ("sleep", ["trio"], None, trio_sleep, "no thread blocks: the loop's timer"),
    ("to_thread.run_sync", ["anyio"], None, anyio_thread, "on a worker thread, and awaited"),
    ("sleep", ["anyio"], None, anyio_sleep, "no thread blocks: the loop's timer"),
)
