"""`idle`: `size` milliseconds are watched, while `rate` tasks arrive a second.

Task i arrives i steps of `1000 / rate` milliseconds after the beginning, however late the one before it was, and adds a step to
a count. A few a millisecond apart come before, untimed."""

import asyncio
import threading
import time

from ..runtimes import drive
from ..sdk import param, variant
from .pingpong import LOOPS

BEFORE = 20, 1


def declare(runtime):
    """The workload `idle` with the variants of `runtime`. Answer of an iteration: the count."""
    param("idle", "rate", 1000, "tasks that arrive a second: 1, 10, 100 or 1000")
    for name, runtimes, arriving, note in FORMS:
        if runtime in runtimes:
            variant("idle", name, note=note)(performer(runtime, arriving))


def performer(runtime, arriving):
    """Does all iterations in one loop. `arriving` starts so many tasks, so many milliseconds apart, and returns when they have
    ended; each of them adds to a list of one number."""

    def perform(run):
        rate = run.params["rate"]
        if rate not in (1, 10, 100, 1000):
            raise LookupError(f"rate is {rate}; give 1, 10, 100 or 1000")
        step = 1000 // rate
        if run.size % step:
            raise LookupError(f"in {run.size} ms no whole number of tasks arrives at {rate} a second")

        async def once(number, step):
            count = [0]

            async def task():
                count[0] += step

            await arriving(number, step, task)
            return count[0]

        async def main():
            await once(*BEFORE)
            return await run.time_async(lambda _phases: once(run.size // step, step))

        return drive(runtime, main)

    return perform


async def called_at(number, step, task):
    """`call_at`: each timer sets the next one, and starts its task."""
    loop = asyncio.get_running_loop()
    begun, last, tasks = loop.time(), loop.create_future(), []

    def due(i):
        if i < number:
            loop.call_at(begun + (i + 1) * step / 1000, due, i + 1)
        tasks.append(loop.create_task(task()))
        if i == number:
            last.set_result(None)

    loop.call_at(begun + step / 1000, due, 1)
    await last
    for one in tasks:
        await one


async def slept(number, step, task):
    """`sleep` in a task, which starts the others."""
    loop = asyncio.get_running_loop()
    begun, tasks = loop.time(), []
    for i in range(1, number + 1):
        await asyncio.sleep(begun + i * step / 1000 - loop.time())
        tasks.append(asyncio.create_task(task()))
    for one in tasks:
        await one


async def outside(number, step, task):
    """A thread that sleeps, and calls into the loop."""
    loop = asyncio.get_running_loop()
    last, tasks = loop.create_future(), []

    def start():
        tasks.append(loop.create_task(task()))
        if len(tasks) == number:
            last.set_result(None)

    def sleeping():
        begun = time.monotonic()
        for i in range(1, number + 1):
            time.sleep(max(0.0, begun + i * step / 1000 - time.monotonic()))
            loop.call_soon_threadsafe(start)

    thread = threading.Thread(target=sleeping)
    thread.start()
    await last
    for one in tasks:
        await one
    thread.join()


async def trio_slept(number, step, task):
    import trio

    begun = trio.current_time()
    async with trio.open_nursery() as nursery:
        for i in range(1, number + 1):
            await trio.sleep_until(begun + i * step / 1000)
            nursery.start_soon(task)


async def anyio_slept(number, step, task):
    import anyio

    begun = anyio.current_time()
    async with anyio.create_task_group() as group:
        for i in range(1, number + 1):
            await anyio.sleep_until(begun + i * step / 1000)
            group.start_soon(task)


FORMS = (
    ("call_at/create_task", LOOPS, called_at, "the loop's timer"),
    ("sleep/create_task", LOOPS, slept, "a task that sleeps"),
    ("outside/create_task", LOOPS, outside, "a thread sleeps, and then call_soon_threadsafe"),
    ("sleep_until/start_soon", ["trio"], trio_slept, "a task that sleeps"),
    ("sleep_until/start_soon", ["anyio"], anyio_slept, "a task that sleeps"),
)
