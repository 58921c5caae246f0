"""`graph`: `size` tasks, some of which begin only when others are done: each awaits those that come before it."""

import asyncio
import math

from ..runtimes import drive
from ..sdk import param, variant
from .count import Count
from .spin import spin

LOOPS = ("asyncio", "uvloop")


def declare(runtime):
    """The workload `graph`. Answer of an iteration: the sum of the tasks' results."""
    if runtime not in LOOPS:
        return
    param("graph", "pattern", "trivial", "which task waits for which", choices=tuple(PATTERNS))
    param("graph", "work", 0, "steps of spin per task; 0: the task gives 31 * i")
    note = "each task awaits the tasks that come before it"
    variant("graph", "create_task", note=note)(lambda run: create_task(runtime, run))


def stencil(size):
    """Steps of as many tasks as there are steps; each task waits for its place in the step before and its neighbours."""
    width = math.floor(math.sqrt(size))

    def before(i):
        if i < width:
            return []
        column, above = i % width, i - width
        return [above + by for by in (-1, 0, 1) if 0 <= column + by < width]

    return before


# The numbers of the tasks before task i, by pattern and size. All are below i.
PATTERNS = {
    "trivial": lambda _size: lambda i: [],
    "chain": lambda _size: lambda i: [i - 1] if i else [],
    "tree": lambda _size: lambda i: [(i - 1) // 2] if i else [],
    "stencil": stencil,
}


def create_task(runtime, run):
    """`create_task` for all, then each awaited in the order of creation."""
    before = PATTERNS[run.params["pattern"]](run.size)
    before = [before(i) for i in range(run.size)]
    seed, work = run.seed, run.params["work"]
    count, done = Count() if run.verify else None, set()

    async def plain(i, others):
        for other in others:
            await other
        return 31 * i

    async def spun(i, others):
        for other in others:
            await other
        return spin(seed + i, work)

    async def proven(i, others):
        result = await task(i, others)
        for j in before[i]:
            if j not in done:
                raise RuntimeError(f"task {i} began before task {j}, which it depends on, was done")
        # Some tasks linger: in their order, which is that of their creation, none would ever be seen to begin too early.
        if i % 16 == 0:
            await asyncio.sleep(0)
        count.executed(result)
        done.add(i)
        return result

    task = spun if work else plain

    async def one(phases):
        create, body, tasks = asyncio.create_task, proven if count else task, []
        for i, numbers in enumerate(before):
            if count:
                count.created()
            tasks.append(create(body(i, [tasks[j] for j in numbers])))
        phases.created()
        total = 0
        for started in tasks:
            total += await started
        done.clear()
        return total

    timing = drive(runtime, lambda: run.time_async(one))
    return count.report(run, timing) if count else timing
