"""A probe of your own, whole. Weigh it: taskscale run --probe my_probe.py"""

import asyncio

from taskscale_probe.sdk import param, serve, variant

# `taskscale run fanout` asks by this parameter how results are to be collected: here, in order.
param("fanout", "order", "ordered", "how results are collected", choices=["ordered"])


async def task(i):
    """What one task does; call your own code here, and still give 31 * i: the tool checks the sum of those."""
    return 31 * i


# The workload, a name for the table, and how it is done; declare as many variants as you like to compare.
@variant("fanout", "in_chunks")
def in_chunks(run):
    async def one(phases):
        total = 0
        for start in range(0, run.size, 100):
            total += sum(await asyncio.gather(*map(task, range(start, min(start + 100, run.size)))))
        return total

    async def timed():  # what is set up out here is not timed, only what happens in `one`
        return await run.time_async(one)

    return asyncio.run(timed())


# A function of yours that is no task has a workload of its own. Its answers are held to each other, not to 31 * i: let it
# return a number that follows from the work. Take this for all of the above:
#
# @variant("poll", "mine", creates_task=False)
# def mine(run):
#     return run.time(lambda _phases: poll(run.size))  # a coroutine: asyncio.run(run.time_async(lambda _phases: ...))

serve("mine", "1.0")  # your runtime's name and version
