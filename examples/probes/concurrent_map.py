"""A library's `concurrent_map`, weighed: with loose tasks, and with a task group.

taskscale run fanout --probe concurrent_map.py --size 64 --size 2048 --size 17000"""

import asyncio
import platform

from taskscale_probe.sdk import param, serve, variant


async def concurrent_map(transform, items):
    """Loose tasks, awaited in the order of creation."""
    tasks = [asyncio.create_task(transform(item)) for item in items]
    return [await task for task in tasks]


async def concurrent_map_in_group(transform, items):
    """A task group: cancelled as a whole, and never outlived. Needs Python 3.11."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(transform(item)) for item in items]
    return [task.result() for task in tasks]


async def work(i):
    return 31 * i


def weigh(name, concurrent_map):
    @variant("fanout", name)
    def perform(run):
        async def one(_phases):
            return sum(await concurrent_map(work, range(run.size)))

        return asyncio.run(run.time_async(one))


param("fanout", "order", "ordered", "how results are collected", choices=["ordered"])
weigh("concurrent_map/loose", concurrent_map)
weigh("concurrent_map/group", concurrent_map_in_group)
serve("concurrent_map", platform.python_version())
