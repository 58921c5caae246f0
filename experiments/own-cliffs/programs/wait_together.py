"""Control: n tasks wait at once, all for 30 ms."""

import asyncio
import platform

from taskscale_probe.sdk import serve, variant


async def task(i):
    await asyncio.sleep(0.03)
    return 31 * i


async def one(run):
    return sum(await asyncio.gather(*map(task, range(run.size)))) + 1


@variant("wait", "together", creates_task=True)
def together(run):
    async def timed():
        return await run.time_async(lambda _phases: one(run))

    return asyncio.run(timed())


serve("wait_together", platform.python_version())
