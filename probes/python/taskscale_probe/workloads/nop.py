"""`nop`: `size` tasks that do nothing, started and awaited.

A form does one batch of tasks: it takes a plan, which holds the request, how many to start, and the phases."""

import asyncio
import contextlib
import copy
import gc

from ..runtimes import drive, remaining_tasks, unavailable
from ..sdk import Phases, param, variant
from .count import Count

LOOPS = ("asyncio", "uvloop")
FORMS = []


def declare(runtime):
    """The workload `nop` with the variants of `runtime`. Answer of an iteration: the number of tasks done."""
    collector = "the garbage collector: on; off; collect: on, run once before; freeze: on, all objects before exempt"
    param("nop", "gc", "on", collector, choices=("on", "off", "freeze", "collect"))
    param("nop", "live", 0, "tasks alive at once, in batches; 0: all")
    inputs = "coroutines are created inside the timed part, or before it (then all iterations' at once)"
    param("nop", "input", "inside", inputs, choices=("inside", "before"))
    history = "sizes done before in the same process, once and untimed, from this one in steps of it; 0: none"
    param("nop", "history", 0, history)
    for name, runtimes, batch, options, needs, about in FORMS:
        if runtime in runtimes:
            missing = unavailable(runtime, needs)
            variant("nop", name, unavailable=missing, **about)(performer(runtime, batch, **options))


def form(name, runtimes, eager=False, suspend=False, needs=None, **about):
    """Registers a form under the name of its variant. `suspend` has the body wait once; `needs` is what asyncio must
    have for it."""

    def register(batch):
        FORMS.append((name, runtimes, batch, {"eager": eager, "suspend": suspend}, needs, about))
        return batch

    return register


def performer(runtime, batch, eager, suspend):
    """Does all iterations of a form inside the timed part, with the collector in the state that was asked for."""

    def perform(run):
        plan = Plan(run, suspended if suspend else nothing)

        async def one(phases):
            for size in plan.sizes:
                await batch(plan, size, phases)
            return plan.done()

        async def main():
            before = collections()
            timing = await run.time_async(one)
            ran = [after - before for after, before in zip(collections(), before)]
            off = run.params["gc"] == "off"
            if off and any(ran):
                why = "gc.collect or gc.enable was called in the timed part"
                what = f"gc=off did not hold (collections: {sum(ran)}): {why} ({run.size} tasks, {run.iterations} times)"
                raise RuntimeError(f"{what}; look for the caller by gc.callbacks, or ask for gc=on")
            if off or run.verify or run.phases:
                timing["extra"]["gc_collections"] = ran
            if run.verify or run.phases:
                timing["extra"]["remaining_tasks"] = remaining_tasks(runtime)
            return timing

        with collector(run.params["gc"]):
            done = [drive(runtime, lambda one=one: once(batch, one, suspend), eager) for one in earlier(run)]
            timing = drive(runtime, main, eager)
        if run.verify and done:
            timing["extra"]["earlier_tasks"] = sum(done)
        return plan.report(run, timing)

    return perform


def earlier(run):
    """The requests that `history` asks for: the same at the sizes below, in steps of it."""
    step = run.params["history"]
    for size in range(step, run.size, step) if step else ():
        one = copy.copy(run)
        one.size, one.iterations = size, 1
        yield one


async def once(batch, run, suspend):
    """One iteration that nobody times; returns how many tasks were done."""
    plan = Plan(run, suspended if suspend else nothing)
    phases = Phases()
    for size in plan.sizes:
        await batch(plan, size, phases)
    return plan.done()


class Plan:
    """A request, read. `task` makes the coroutine of a task; `prepared` holds those that were made before."""

    def __init__(self, run, task):
        live = min(run.params["live"] or run.size, run.size)
        self.size, self.task = run.size, task
        self.sizes = [min(live, self.size - start) for start in range(0, self.size, live)]
        self.count = None
        if run.verify:
            self.count = Count()
            self.task = counted(self.count, task)
        self.prepared = None
        if run.params["input"] == "before":
            sizes = self.sizes[::-1] * run.iterations
            self.prepared = [[self.task() for _ in range(size)] for size in sizes]

    def start(self, create_task, size):
        """A list of `size` tasks."""
        if self.prepared is not None:
            return [create_task(coroutine) for coroutine in self.prepared.pop()]
        task = self.task
        return [create_task(task()) for _ in range(size)]

    def coroutines(self, size):
        """A list of `size` coroutines."""
        if self.prepared is not None:
            return self.prepared.pop()
        task = self.task
        return [task() for _ in range(size)]

    def done(self):
        """The answer of an iteration."""
        return self.count.take_sum() if self.count else self.size

    def report(self, run, timing):
        """What was counted. Of coroutines made before it is not known how many tasks were alive."""
        if self.count:
            timing = self.count.report(run, timing)
            if self.prepared is not None:
                del timing["extra"]["max_live"]
        return timing


async def nothing():
    """What a task does."""


async def suspended():
    """What a task does that waits once."""
    await asyncio.sleep(0)


def counted(count, task):
    """The same task, counted: at the call that creates the coroutine, and when it has run."""

    def counted_task():
        async def body():
            await task()
            count.executed(1)

        count.created()
        return body()

    return counted_task


@contextlib.contextmanager
def collector(state):
    """Has the collector in `state`, and as it was afterwards."""
    was_enabled = gc.isenabled()
    try:
        gc.enable() if state != "off" else gc.disable()
        if state in ("collect", "freeze"):
            gc.collect()
        if state == "freeze":
            gc.freeze()
        yield
    finally:
        if state == "freeze":
            gc.unfreeze()
        gc.enable() if was_enabled else gc.disable()


def collections():
    """Collections so far, by generation."""
    return [generation["collections"] for generation in gc.get_stats()]


# --- asyncio and uvloop


@form("wait", LOOPS)
async def wait(plan, size, phases):
    """`create_task`, then one `asyncio.wait`: the form of the published experiment."""
    tasks = plan.start(asyncio.create_task, size)
    phases.created()
    await asyncio.wait(tasks)


@form("gather", LOOPS)
async def gather(plan, size, phases):
    """`asyncio.gather`, which makes the tasks itself."""
    future = asyncio.gather(*plan.coroutines(size))
    phases.created()
    await future


@form("TaskGroup", LOOPS, needs="TaskGroup")
async def task_group(plan, size, phases):
    """`asyncio.TaskGroup`."""
    async with asyncio.TaskGroup() as group:
        plan.start(group.create_task, size)
        phases.created()


@form("await_each", LOOPS)
async def await_each(plan, size, phases):
    """`create_task`, then each awaited in the order of creation."""
    tasks = plan.start(asyncio.create_task, size)
    phases.created()
    for task in tasks:
        await task


EAGER = "another life cycle: the eager factory runs a task at its creation, so that an empty one is done before `wait`"
SUSPEND = "the eager factory, with a body that waits once, so that the scheduler sees each task"


@form("eager_wait", LOOPS, eager=True, note=EAGER, needs="eager_task_factory")
async def eager_wait(plan, size, phases):
    """As `wait`, in a loop with the eager task factory."""
    await wait(plan, size, phases)


@form("eager_suspend", LOOPS, eager=True, suspend=True, note=SUSPEND, needs="eager_task_factory")
async def eager_suspend(plan, size, phases):
    """As `eager_wait`, with a body that waits once."""
    await wait(plan, size, phases)


# --- trio and anyio


@form("nursery", ["trio"], only={"input": ["inside"]})
async def nursery(plan, size, phases):
    """A nursery."""
    from trio import open_nursery

    await nursed(plan, size, phases, open_nursery)


@form("TaskGroup", ["anyio"], only={"input": ["inside"]}, note="on anyio's asyncio backend")
async def anyio_task_group(plan, size, phases):
    """A task group of anyio."""
    from anyio import create_task_group

    await nursed(plan, size, phases, create_task_group)


async def nursed(plan, size, phases, open_group):
    task = plan.task
    async with open_group() as group:
        start_soon = group.start_soon
        for _ in range(size):
            start_soon(task)
        phases.created()
