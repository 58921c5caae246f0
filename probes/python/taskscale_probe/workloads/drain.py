"""`drain`: `size` futures that wait, completed and collected one after the other. All of them wait before the clock starts, so
that what is timed is the price of a completion among many that still wait."""

import asyncio
import copy

from ..runtimes import drive
from ..sdk import variant
from ..sdk.timing import Parts

LOOPS = ("asyncio", "uvloop")
FUTURES = "plain futures, no tasks"


def declare(runtime):
    """The workload `drain`, where there are futures. Answer of an iteration: the number of futures collected."""
    if runtime in LOOPS:
        for name, collect, note in FORMS:
            variant("drain", name, creates_task=False, note=note)(performer(runtime, collect))


def performer(runtime, collect):
    """Does each iteration in a loop of its own, of which only the collecting is timed."""

    def perform(run):
        once = copy.copy(run)
        once.iterations = 1

        async def main():
            loop = asyncio.get_running_loop()
            futures = [loop.create_future() for _ in range(run.size)]

            async def one(_phases):
                return await collect(loop, futures)

            return await once.time_async(one)

        parts = Parts(False)
        for _ in range(run.iterations):
            parts.add(drive(runtime, main))
        return parts.sample()

    return perform


async def one_by_one(loop, futures):
    """`asyncio.wait` for the first, again and again on those that are left: each call adds and removes a callback on all."""
    pending, collected, coming = set(futures), 0, iter(futures)
    while pending:
        loop.call_soon(next(coming).set_result, None)
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        collected += len(done)
    return collected


async def all_at_once(loop, futures):
    """One `asyncio.wait` for all."""
    for future in futures:
        loop.call_soon(future.set_result, None)
    done, _ = await asyncio.wait(futures)
    return len(done)


AGAIN = "asked again for those that are left: work grows with the square of the size, by design"
FORMS = (
    ("wait(FIRST_COMPLETED)", one_by_one, f"{FUTURES}; {AGAIN}"),
    ("wait", all_at_once, FUTURES),
)
