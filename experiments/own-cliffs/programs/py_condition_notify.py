"""Cliff, tasks: a producer calls asyncio.Condition.notify() once an item, holding the lock. Each
call begins at the first waiter, and steps over all that were woken before and have not run yet."""

import asyncio
import platform

from taskscale_probe.sdk import serve, variant


async def wait(condition):
    async with condition:
        await condition.wait()
    return 1


async def one(run):
    condition = asyncio.Condition()
    waiters = [asyncio.create_task(wait(condition)) for _ in range(run.size)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    async with condition:
        for _ in range(run.size):
            condition.notify()
    return sum(await asyncio.gather(*waiters))


@variant("wake", "notify", creates_task=True)
def notify(run):
    async def timed():
        return await run.time_async(lambda _phases: one(run))

    return asyncio.run(timed())


serve("py_condition_notify", platform.python_version())
