"""`parked`: `size` tasks that all wait, and are woken and collected. What is timed is the waking; what tasks hold while they
wait is read where the request asks for it.

Everything runs on one thread, and a task counts itself with nothing but the waiting behind it. So when the loop gets back to
the one who counts, those that are counted wait."""

import asyncio
import copy
import gc

from ..runtimes import drive
from ..sdk import param, variant

LOOPS = ("asyncio", "uvloop")
HOUR = 3600  # a task sleeps for so long, and is cancelled before
STUCK = 100  # turns of the loop without a further task that waits: then none will


def declare(runtime):
    """The workload `parked` with the variants of `runtime`. Answer of an iteration: the number of tasks that were woken."""
    things = "what tasks wait for: an event; an hour to pass, which is cut short; a lock that is held"
    param("parked", "on", "event", things, choices=("event", "timer", "lock"))
    memory = "also reads the memory of the process, after a collection: before the first task, and while all wait"
    param("parked", "resident", False, memory)
    for name, runtimes, once in FORMS:
        if runtime in runtimes:
            variant("parked", name)(performer(runtime, once))


def performer(runtime, once):
    """Does each iteration in a loop of its own, of which only the waking is timed."""

    def perform(run):
        watch = Watch(run)
        try:
            for _ in range(run.iterations):
                drive(runtime, lambda: once(watch))
        finally:
            gc.enable()
        return watch.report()

    return perform


class Watch:
    """What happens around the timed part of an iteration, and what a task says of itself."""

    def __init__(self, run):
        self.size, self.on, self.is_resident = run.size, run.params["on"], run.params.get("resident", False)
        self.once, self.tells = copy.copy(run), run.verify or self.is_resident
        self.once.iterations = 1
        self.whole = dict(wall_ns=0, cpu_ns=0, answer=0, extra={})
        self.fewest = self.size
        self.waiting = 0

    def begin(self):
        """To be called before the first task of an iteration. Creation is not timed, and the collector, which looks at all
        that was created again and again, would double the time that it takes."""
        self.waiting = 0
        self.read("resident_before")
        gc.disable()

    def wait(self):
        """A task begins to wait."""
        self.waiting += 1

    async def until_all(self, turn, ended):
        """Returns when all tasks wait. `turn` gives the loop a turn, `ended` tells how many tasks have ended."""
        idle = 0
        while self.waiting < self.size and idle < STUCK:
            before = self.waiting
            await turn()
            idle = 0 if self.waiting > before else idle + 1
        if ended() or self.waiting != self.size:
            said = f"{self.waiting} of {self.size} tasks waited, and {ended()} ended before they were woken"
            raise RuntimeError(said)
        gc.enable()
        self.fewest = min(self.fewest, self.waiting)
        self.read("resident_waiting")

    def read(self, name):
        """Reads the memory of the process, in the first iteration alone: later ones find a heap that has held tasks."""
        if self.is_resident and name not in self.whole["extra"]:
            gc.collect()
            self.whole["extra"][name] = resident()

    async def time(self, wake):
        """Times the coroutine function `wake`, which wakes all tasks and returns how many gave their value."""
        part = await self.once.time_async(lambda _phases: wake())
        for field in ("wall_ns", "cpu_ns", "answer"):
            self.whole[field] += part[field]

    def report(self):
        if self.tells:
            self.whole["extra"]["waiting"] = self.fewest
        return self.whole


def resident():
    """Resident bytes of this process. `smaps_rollup` counts pages; the kernel's running totals lag behind."""
    with open("/proc/self/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Rss:"):
                return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/self/smaps_rollup has no line Rss")


# --- asyncio and uvloop


async def tasks(watch):
    """`create_task`, then each awaited."""
    event, lock = asyncio.Event(), asyncio.Lock()

    async def on_event():
        watch.wait()
        await event.wait()
        return 1

    async def on_timer():
        watch.wait()
        await asyncio.sleep(HOUR)

    async def on_lock():
        watch.wait()
        async with lock:
            return 1

    await lock.acquire()
    task = {"event": on_event, "timer": on_timer, "lock": on_lock}[watch.on]
    watch.begin()
    create_task = asyncio.create_task
    waiting = [create_task(task()) for _ in range(watch.size)]
    await watch.until_all(lambda: asyncio.sleep(0), lambda: sum(one.done() for one in waiting))

    async def wake():
        event.set() if watch.on == "event" else lock.release()
        woken = 0
        for one in waiting:
            woken += await one
        return woken

    async def cancel():
        for one in waiting:
            one.cancel()
        woken = 0
        for one in waiting:
            try:
                await one
            except asyncio.CancelledError:
                woken += 1
        return woken

    await watch.time(cancel if watch.on == "timer" else wake)


# --- trio and anyio


async def nursery(watch):
    """A nursery of trio."""
    import trio

    await nursed(watch, trio, trio.open_nursery(), trio.Cancelled)


async def task_group(watch):
    """A task group of anyio, on its asyncio backend."""
    import anyio

    await nursed(watch, anyio, anyio.create_task_group(), anyio.get_cancelled_exc_class())


async def nursed(watch, library, opening, cancelled):
    event, lock = library.Event(), library.Lock()
    given = 0

    async def on_event():
        nonlocal given
        watch.wait()
        await event.wait()
        given += 1

    async def on_timer():
        nonlocal given
        watch.wait()
        try:
            await library.sleep(HOUR)
        except cancelled:
            given += 1
            raise

    async def on_lock():
        nonlocal given
        watch.wait()
        async with lock:
            given += 1

    await lock.acquire()
    task = {"event": on_event, "timer": on_timer, "lock": on_lock}[watch.on]
    watch.begin()
    # Entered and left by hand: leaving it, which waits for its tasks, is in the timed part, and all else is not.
    group = await opening.__aenter__()
    try:
        start_soon = group.start_soon
        for _ in range(watch.size):
            start_soon(task)
        await watch.until_all(lambda: library.sleep(0), lambda: given)
    except BaseException:
        group.cancel_scope.cancel()
        await opening.__aexit__(None, None, None)
        raise

    async def wake():
        {"event": event.set, "timer": group.cancel_scope.cancel, "lock": lock.release}[watch.on]()
        await opening.__aexit__(None, None, None)
        return given

    await watch.time(wake)


FORMS = (
    ("await_each", LOOPS, tasks),
    ("nursery", ["trio"], nursery),
    ("TaskGroup", ["anyio"], task_group),
)
