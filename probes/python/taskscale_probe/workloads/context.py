"""`context`: `size` awaits, behind each of which a task reads one of the `variables` context variables that it has set.

Two tasks share the awaits, each with values of its own, so a variable that is not of the task's context has the wrong value.
Without variables nothing is read."""

import asyncio
from contextvars import ContextVar
from itertools import cycle, islice

from ..runtimes import drive
from ..sdk import param, variant
from .pingpong import LOOPS, created, nursery, task_group

VARIABLES = [ContextVar(f"variable {number}") for number in range(8)]


def declare(runtime):
    """The workload `context` with the variants of `runtime`. Answer of an iteration: the number of awaits behind which the value
    was right."""
    param("context", "variables", 1, "context variables that are set: 0, 1 or 8")
    for name, runtimes, gathered, task, waits, note in FORMS:
        if runtime in runtimes:
            tasks = waits is asked
            variant("context", name, creates_task=tasks, note=note)(performer(runtime, gathered, task, waits))


def performer(runtime, gathered, task, waits):
    """Does all iterations in one loop. `gathered` starts both tasks and adds up what they returned; `waits` is what each calls
    with a variable and its value, and awaits."""

    def perform(run):
        count = run.params["variables"]
        if count not in (0, 1, 8):
            raise LookupError(f"variables is {count}; give 0, 1 or 8")

        async def one(_phases):
            shares = (run.size + 1) // 2, run.size // 2
            return await gathered([(task, share, own(number, count), waits) for number, share in enumerate(shares)])

        async def main():
            return await run.time_async(one)

        return drive(runtime, main)

    return perform


def own(number, count):
    """The variables of a task, with the values that it gives them."""
    return [(variable, 100 * number + at) for at, variable in enumerate(VARIABLES[:count])]


async def suspending(awaits, variables, wait):
    """Sets the variables; then waits, and looks at one, so many times. Returns how often its value was right."""
    for variable, value in variables:
        variable.set(value)
    if not variables:
        for _ in range(awaits):
            await wait()
        return awaits
    right = 0
    for variable, value in islice(cycle(variables), awaits):
        await wait()
        right += variable.get(None) == value
    return right


async def asking(awaits, variables, ask):
    """As `suspending`, where a task that it starts and waits for looks at the variable."""
    for variable, value in variables:
        variable.set(value)
    right = 0
    for variable, value in islice(cycle(variables or [(None, None)]), awaits):
        right += await ask(variable, value)
    return right


async def looked(variable, value):
    """What a task does that looks at a variable."""
    return variable is None or variable.get(None) == value


def asked(variable, value):
    return asyncio.create_task(looked(variable, value))


def yielded():
    return asyncio.sleep(0)


def checkpoint():
    import trio

    return trio.lowlevel.checkpoint()


def anyio_checkpoint():
    import anyio.lowlevel

    return anyio.lowlevel.checkpoint()


FORMS = (
    ("ContextVar", LOOPS, created, suspending, yielded, "sleep(0)"),
    ("ContextVar/create_task", LOOPS, created, asking, asked, "a task for each await, in a copy of the context"),
    ("ContextVar", ["trio"], nursery, suspending, checkpoint, "checkpoint()"),
    ("ContextVar", ["anyio"], task_group, suspending, anyio_checkpoint, "checkpoint()"),
)
