"""Control: n random items through an asyncio.PriorityQueue, a consumer task: n log n."""

import asyncio
import platform
import random

from taskscale_probe.sdk import serve, variant


async def consume(queue, n):
    total = 0
    for _ in range(n):
        total += (await queue.get())[1]
    return total


async def one(items):
    queue = asyncio.PriorityQueue()
    for item in items:
        queue.put_nowait(item)
    return await asyncio.create_task(consume(queue, len(items)))


@variant("queue", "PriorityQueue", creates_task=False)
def priority(run):
    draw = random.Random(run.seed)
    items = [(draw.random(), i + 1) for i in range(run.size)]

    async def timed():
        return await run.time_async(lambda _phases: one(items))

    return asyncio.run(timed())


serve("py_priority_queue", platform.python_version())
