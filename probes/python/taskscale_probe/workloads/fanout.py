"""`fanout`: start `size` tasks, collect `size` results.

A form does one iteration; it takes a plan, which holds the request, and the phases. With a window, forms that can await
one task at a time (`await_each`, `eager`, `wait`) keep that many alive; the others do one batch after another."""

import asyncio
from collections import deque

from ..runtimes import drive, unavailable
from ..sdk import param, variant
from .count import Count
from .spin import spin

LOOPS = ("asyncio", "uvloop")
FORMS = []


def declare(runtime):
    """The workload `fanout` with the variants of `runtime`.

    Answer of an iteration: the sum of the tasks' results; in the order `discard`, where a timed run has no results, the
    number of tasks started."""
    orders = ("ordered", "completion", "discard")
    param("fanout", "order", "ordered", "how results are collected", choices=orders)
    param("fanout", "work", 0, "steps of spin per task; 0: the task gives 31 * i")
    param("fanout", "window", 0, "most tasks alive at once; 0: all")
    param("fanout", "extra_spin", 0, "steps of spin once per iteration: a slow-down to be found")
    for name, runtimes, orders, iteration, eager, needs, about in FORMS:
        if runtime in runtimes:
            limits = {"only": {"order": list(orders)}, "unavailable": unavailable(runtime, needs)}
            variant("fanout", name, **limits, **about)(performer(runtime, iteration, eager))


def form(name, runtimes, orders, eager=False, needs=None, **about):
    """Registers a form under the name of its variant. `needs` is what asyncio must have for it."""

    def register(iteration):
        FORMS.append((name, runtimes, orders, iteration, eager, needs, about))
        return iteration

    return register


def performer(runtime, iteration, eager):
    """Does all iterations of a form inside the timed part."""

    def perform(run):
        plan = Plan(run)
        timing = drive(runtime, lambda: run.time_async(plan.iterate(iteration)), eager)
        return plan.count.report(run, timing) if plan.count else timing

    return perform


class Plan:
    """A request, read. The kind of task is chosen here, once, so that the loop over tasks has no branch on it.

    `task(i)` is a coroutine that gives the result of task i, `into(slots, i)` one that puts it into its slot."""

    def __init__(self, run):
        window = run.params["window"]
        self.size, self.order = run.size, run.params["order"]
        self.window = window if 0 < window < run.size else None
        step = self.window or self.size
        self.batches = [range(start, min(start + step, self.size)) for start in range(0, self.size, step)]
        self.extra_spin, self.seed = run.params["extra_spin"], run.seed
        self.expected, self.task, self.into = plain() if run.params["work"] == 0 else spun(run.seed, run.params["work"])
        self.count = None
        if run.verify:
            self.count = Count()
            self.task, self.into = counted(self.count, self.task, self.into)

    def iterate(self, iteration):
        """One iteration of a form, and the slow-down where one is planted."""

        async def one(phases):
            return await iteration(self, phases)

        async def slowed(phases):
            answer = await iteration(self, phases)
            spin(self.seed, self.extra_spin)
            return answer

        return slowed if self.extra_spin else one

    def ordered(self, results):
        """The answer of results in the order of their tasks."""
        if self.count:
            # A sum alone would not show that results lie in the wrong places.
            for i, result in enumerate(results):
                if result != self.expected(i):
                    raise AssertionError(f"result {i} is {result}, not {self.expected(i)}")
        return sum(results)

    def discarded(self):
        """The answer of tasks without results."""
        return self.count.take_sum() if self.count else self.size


def plain():
    """Tasks that give `31 * i`."""

    async def task(i):
        return 31 * i

    async def into(slots, i):
        slots[i] = 31 * i

    return (lambda i: 31 * i), task, into


def spun(seed, work):
    """Tasks that give `spin(seed + i, work)`."""

    async def task(i):
        return spin(seed + i, work)

    async def into(slots, i):
        slots[i] = spin(seed + i, work)

    return (lambda i: spin(seed + i, work)), task, into


def counted(count, task, into):
    """The same tasks, counted: at the call that creates the coroutine, and when it has run."""

    def counted_task(i):
        async def body():
            result = await task(i)
            count.executed(result)
            return result

        count.created()
        return body()

    def counted_into(slots, i):
        async def body():
            await into(slots, i)
            count.executed(slots[i])

        count.created()
        return body()

    return counted_task, counted_into


# --- asyncio and uvloop


@form("await_each", LOOPS, ["ordered"])
async def await_each(plan, phases):
    """`create_task`, then each awaited in the order of creation."""
    create_task, task = asyncio.create_task, plan.task
    if plan.window:
        return await await_each_windowed(plan, phases)
    tasks = [create_task(task(i)) for i in range(plan.size)]
    phases.created()
    return plan.ordered([await task for task in tasks])


async def await_each_windowed(plan, phases):
    create_task, task, window = asyncio.create_task, plan.task, plan.window
    tasks, results = deque(), []
    for i in range(plan.size):
        if len(tasks) == window:
            results.append(await tasks.popleft())
        tasks.append(create_task(task(i)))
    phases.created()
    results += [await task for task in tasks]
    return plan.ordered(results)


@form("wait", LOOPS, ["ordered", "discard"])
async def wait(plan, phases):
    """`create_task`, then one `asyncio.wait`; results read in the order of creation afterwards."""
    create_task, task = asyncio.create_task, plan.task
    if plan.window:
        return await wait_windowed(plan, phases)
    tasks = [create_task(task(i)) for i in range(plan.size)]
    phases.created()
    await asyncio.wait(tasks)
    return plan.discarded() if plan.order == "discard" else plan.ordered([task.result() for task in tasks])


async def wait_windowed(plan, phases):
    create_task, task, window = asyncio.create_task, plan.task, plan.window
    keep = plan.order == "ordered"
    tasks, pending = [], set()
    for i in range(plan.size):
        if len(pending) == window:
            _, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        started = create_task(task(i))
        pending.add(started)
        if keep:
            tasks.append(started)
    phases.created()
    await asyncio.wait(pending)
    return plan.ordered([task.result() for task in tasks]) if keep else plan.discarded()


@form("gather", LOOPS, ["ordered"])
async def gather(plan, phases):
    """`asyncio.gather`, which makes the tasks itself."""
    task, results = plan.task, []
    for batch in plan.batches:
        future = asyncio.gather(*[task(i) for i in batch])
        phases.created()
        results += await future
    return plan.ordered(results)


@form("TaskGroup", LOOPS, ["ordered", "discard"], needs="TaskGroup")
async def task_group(plan, phases):
    """`asyncio.TaskGroup`; results read from the tasks in the order of creation, after the group."""
    task = plan.task
    if plan.order == "discard":
        for batch in plan.batches:
            async with asyncio.TaskGroup() as group:
                create_task = group.create_task
                for i in batch:
                    create_task(task(i))
                phases.created()
        return plan.discarded()
    results = []
    for batch in plan.batches:
        async with asyncio.TaskGroup() as group:
            create_task = group.create_task
            tasks = [create_task(task(i)) for i in batch]
            phases.created()
        results += [task.result() for task in tasks]
    return plan.ordered(results)


@form("as_completed", LOOPS, ["completion"])
async def as_completed(plan, phases):
    """`create_task`, then `asyncio.as_completed`."""
    create_task, task = asyncio.create_task, plan.task
    total = 0
    for batch in plan.batches:
        tasks = [create_task(task(i)) for i in batch]
        phases.created()
        for future in asyncio.as_completed(tasks):
            total += await future
    return total


EAGER = "the eager factory runs a task at its creation: one that never waits is done without the scheduler"


@form("eager", LOOPS, ["ordered"], eager=True, note=EAGER, needs="eager_task_factory")
async def eager(plan, phases):
    """As `await_each`, in a loop with the eager task factory."""
    return await await_each(plan, phases)


@form("await_only", LOOPS, ["ordered"], creates_task=False, note="the floor: coroutines awaited without a task")
async def await_only(plan, phases):
    """Each coroutine awaited where it is made."""
    task = plan.task
    return plan.ordered([await task(i) for i in range(plan.size)])


# --- trio and anyio


@form("nursery", ["trio"], ["ordered", "discard"])
async def nursery(plan, phases):
    """A nursery, each task writing its own slot."""
    from trio import open_nursery

    return await nursed(plan, phases, open_nursery)


@form("TaskGroup", ["anyio"], ["ordered", "discard"], note="on anyio's asyncio backend")
async def anyio_task_group(plan, phases):
    """A task group of anyio, each task writing its own slot."""
    from anyio import create_task_group

    return await nursed(plan, phases, create_task_group)


async def nursed(plan, phases, open_group):
    if plan.order == "discard":
        task = plan.task
        for batch in plan.batches:
            async with open_group() as group:
                start_soon = group.start_soon
                for i in batch:
                    start_soon(task, i)
                phases.created()
        return plan.discarded()
    into, slots = plan.into, [None] * plan.size
    for batch in plan.batches:
        async with open_group() as group:
            start_soon = group.start_soon
            for i in batch:
                start_soon(into, slots, i)
            phases.created()
    return plan.ordered(slots)
