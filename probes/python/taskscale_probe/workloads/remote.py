"""`remote`: `size` tasks that threads hand to the loop which are not its own.

The threads are started before the timed part, and wait. Each iteration lets them go, all at once, and ends when the last task
has run. A task adds one to a count."""

import asyncio
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, repeat

from ..runtimes import drive
from ..sdk import param, variant
from .pingpong import LOOPS

MOST_PRODUCERS = 64


def declare(runtime):
    """The workload `remote` with the variants of `runtime`. Answer of an iteration: the number of tasks that have run."""
    param("remote", "producers", 1, "threads beside that of the loop that share the tasks")
    for name, runtimes, form, note in FORMS:
        if runtime in runtimes:
            variant("remote", name, note=note)(performer(runtime, form))


def performer(runtime, form):
    """Does all iterations in one loop. `form` is given the tasks, and the coroutine function that times them. That takes what
    makes an event for the last task to set, and a function: `submit` hands over one task and is called by threads, `begin`
    takes the number of tasks of each producer and does without threads."""

    def perform(run):
        shares = shared(run)
        ran = Ran(run.size)

        async def timed(event, submit=None, begin=None):
            if begin:
                return await run.time_async(partial(iteration, ran, event, partial(begin, shares)))
            with Gate(shares, submit) as gate:
                return await run.time_async(partial(iteration, ran, event, gate.open))

        return drive(runtime, partial(form, ran, timed))

    return perform


def shared(run):
    """The number of tasks of each producer: as even a share as can be."""
    producers = run.params["producers"]
    if not 1 <= producers <= MOST_PRODUCERS:
        raise LookupError(f"producers is {producers}; give 1 to {MOST_PRODUCERS}")
    return [run.size // producers + (one < run.size % producers) for one in range(producers)]


async def iteration(ran, event, begin, _phases):
    """`begin` has the tasks handed over, and the last of them ends it."""
    finished = event()
    ran.begin(finished.set)
    begin()
    await finished.wait()
    return ran.count


class Ran:
    """Counts the tasks of an iteration. The lock costs little beside a task, and counts right without the GIL too."""

    def __init__(self, size):
        self.all, self.count, self.finish, self.lock = size, 0, None, threading.Lock()

    def begin(self, finish):
        """Has the last task call `finish`."""
        self.count, self.finish = 0, finish

    def one(self):
        """What a task does."""
        with self.lock:
            self.count += 1
            last = self.count == self.all
        if last:
            self.finish()


class Gate:
    """What producers wait at. They live while it is entered."""

    def __init__(self, shares, submit):
        self.changed, self.opened, self.came, self.closed = threading.Condition(), 0, 0, False
        self.threads = [threading.Thread(target=self.produce, args=(share, submit), daemon=True) for share in shares]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        with self.changed:
            self.changed.wait_for(lambda: self.came == len(self.threads))
        return self

    def __exit__(self, *_failed):
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()

    def open(self):
        """Opens it for the next iteration."""
        with self.changed:
            self.opened += 1
            self.changed.notify_all()

    def produce(self, share, submit):
        """What a producer does: calls `submit` for each of its tasks whenever the gate opens."""
        for passed in count():
            with self.changed:
                if passed == 0:
                    self.came += 1
                    self.changed.notify_all()
                self.changed.wait_for(lambda passed=passed: self.opened > passed or self.closed)
                if self.opened <= passed:
                    return
            for _ in repeat(None, share):
                submit()


# --- asyncio and uvloop


async def call_soon_threadsafe(ran, timed):
    return await timed(asyncio.Event, partial(asyncio.get_running_loop().call_soon_threadsafe, ran.one))


async def run_coroutine_threadsafe(ran, timed):
    loop, run = asyncio.get_running_loop(), asyncio.run_coroutine_threadsafe

    async def task():
        ran.one()

    return await timed(asyncio.Event, lambda: run(task(), loop))


async def call_soon(ran, timed):
    loop = asyncio.get_running_loop()

    def produce(share):
        call, one = loop.call_soon, ran.one
        for _ in repeat(None, share):
            call(one)

    def begin(shares):
        for share in shares:
            loop.call_soon(produce, share)

    return await timed(asyncio.Event, begin=begin)


@functools.lru_cache(None)
def pool():
    """Threads that are started when they are first needed, and stay."""
    return ThreadPoolExecutor()


async def pool_submit(ran, timed):
    loop = asyncio.get_running_loop()

    class Finished(asyncio.Event):
        """An event that another thread sets."""

        def set(self):
            loop.call_soon_threadsafe(super().set)

    return await timed(Finished, partial(pool().submit, ran.one))


# --- trio and anyio


async def run_sync_soon(ran, timed):
    import trio

    return await timed(trio.Event, partial(trio.lowlevel.current_trio_token().run_sync_soon, ran.one))


async def from_thread(ran, timed):
    import trio

    token = trio.lowlevel.current_trio_token()
    return await timed(trio.Event, partial(trio.from_thread.run_sync, ran.one, trio_token=token))


async def start_task_soon(ran, timed):
    import anyio.from_thread

    async with anyio.from_thread.BlockingPortal() as portal:
        return await timed(anyio.Event, partial(portal.start_task_soon, ran.one))


async def portal_call(ran, timed):
    import anyio.from_thread

    async with anyio.from_thread.BlockingPortal() as portal:
        return await timed(anyio.Event, partial(portal.call, ran.one))


FORMS = (
    ("call_soon_threadsafe", LOOPS, call_soon_threadsafe, "a callback of the loop each"),
    ("run_coroutine_threadsafe", LOOPS, run_coroutine_threadsafe, "a task and two futures each"),
    ("call_soon/local", LOOPS, call_soon, "callbacks start the others, in place of the threads"),
    ("ThreadPoolExecutor.submit", ["asyncio"], pool_submit, "to threads, while the loop waits"),
    ("run_sync_soon", ["trio"], run_sync_soon, "a callback of a TrioToken each"),
    ("from_thread.run_sync", ["trio"], from_thread, "the thread waits for each callback"),
    ("start_task_soon", ["anyio"], start_task_soon, "a task of a BlockingPortal each"),
    ("portal.call", ["anyio"], portal_call, "the thread waits for each task"),
)
