"""`cancel`: `size` tasks that all wait for what never comes, cancelled and collected. What is timed is both. That all wait is
made sure of as `parked` does it."""

import asyncio
import gc

from ..runtimes import drive, unavailable
from ..sdk import param, variant
from ..sdk.timing import Parts
from .parked import HOUR, LOOPS, Watch


def declare(runtime):
    """The workload `cancel` with the variants of `runtime`. Answer of an iteration: the number of tasks seen cancelled."""
    things = "what tasks wait for: an event; an hour to pass; a lock that is held"
    param("cancel", "on", "event", things, choices=("event", "timer", "lock"))
    param("cancel", "first", "oldest", "which task is cancelled first", choices=("oldest", "newest"))
    for name, runtimes, once, firsts, needs in FORMS:
        if runtime in runtimes:
            limits = {"only": {"first": list(firsts)}, "unavailable": unavailable(runtime, needs)}
            variant("cancel", name, **limits)(performer(runtime, once))


def performer(runtime, once):
    """Does each iteration in a loop of its own, of which only the cancelling and the collecting is timed."""

    def perform(run):
        watch, parts = Watch(run), Parts(False)
        try:
            for _ in range(run.iterations):
                drive(runtime, lambda: once(watch))
        finally:
            gc.enable()
        parts.add(watch.whole)
        return parts.sample()

    return perform


async def waiting(watch, library):
    """What a task of asyncio, trio or anyio does. The lock is held by whoever asks for this."""
    event, lock = library.Event(), library.Lock()
    await lock.acquire()

    async def on_event():
        watch.wait()
        await event.wait()

    async def on_timer():
        watch.wait()
        await library.sleep(HOUR)

    async def on_lock():
        watch.wait()
        async with lock:
            pass

    return {"event": on_event, "timer": on_timer, "lock": on_lock}[watch.on]


# --- asyncio and uvloop


async def started(watch, create_task):
    """Tasks that all wait."""
    task = await waiting(watch, asyncio)
    watch.begin()
    tasks = [create_task(task()) for _ in range(watch.size)]
    await watch.until_all(lambda: asyncio.sleep(0), lambda: sum(one.done() for one in tasks))
    return tasks


async def each(watch):
    """`Task.cancel` of each, and one `gather`."""
    tasks = await started(watch, asyncio.create_task)
    newest = watch.once.params["first"] == "newest"

    async def cancel():
        for task in reversed(tasks) if newest else tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        return sum(isinstance(result, asyncio.CancelledError) for result in results)

    await watch.time(cancel)


async def by_timeout(watch):
    """A `gather` under a time limit that has passed."""
    tasks = await started(watch, asyncio.create_task)

    async def cancel():
        try:
            async with asyncio.timeout(0):
                await asyncio.gather(*tasks, return_exceptions=True)
        except TimeoutError:
            pass
        return sum(task.cancelled() for task in tasks)

    await watch.time(cancel)


class Planned(Exception):
    """What ends the group."""


async def aborted(watch):
    """A `TaskGroup` whose body fails."""
    # Entered and left by hand: leaving it, which cancels its tasks and waits for them, is what is timed.
    group = await asyncio.TaskGroup().__aenter__()
    tasks = await started(watch, group.create_task)

    async def cancel():
        try:
            await group.__aexit__(Planned, Planned(), None)
        except Exception:  # an ExceptionGroup with it, which Python 3.8 has no name for
            pass
        return sum(task.cancelled() for task in tasks)

    await watch.time(cancel)


# --- trio and anyio


async def nursery(watch):
    """The cancel scope of a nursery of trio."""
    import trio

    await scoped(watch, trio, trio.open_nursery(), trio.Cancelled)


async def task_group(watch):
    """The cancel scope of a task group of anyio, on its asyncio backend."""
    import anyio

    await scoped(watch, anyio, anyio.create_task_group(), anyio.get_cancelled_exc_class())


async def scoped(watch, library, opening, exception):
    wait, cancelled = await waiting(watch, library), 0

    async def task():
        nonlocal cancelled
        try:
            await wait()
        except exception:
            cancelled += 1
            raise

    watch.begin()
    group = await opening.__aenter__()
    try:
        for _ in range(watch.size):
            group.start_soon(task)
        await watch.until_all(lambda: library.sleep(0), lambda: cancelled)
    except BaseException:
        group.cancel_scope.cancel()
        await opening.__aexit__(None, None, None)
        raise

    async def cancel():
        group.cancel_scope.cancel()
        await opening.__aexit__(None, None, None)
        return cancelled

    await watch.time(cancel)


BOTH, ONE = ("oldest", "newest"), ("oldest",)
FORMS = (
    ("cancel/gather", LOOPS, each, BOTH, None),
    ("timeout/gather", LOOPS, by_timeout, ONE, "timeout"),
    ("TaskGroup/exception", LOOPS, aborted, ONE, "TaskGroup"),
    ("nursery/cancel_scope", ["trio"], nursery, ONE, None),
    ("TaskGroup/cancel_scope", ["anyio"], task_group, ONE, None),
)
