"""The loops of our Python probe once more, written by hand for pyperf. Measures CPU time of the process, not wall time.

python fanout.py --form gather [flags of pyperf]
"""

import asyncio
import time

import pyperf

SIZE = 2048


async def task(i):
    return 31 * i


async def await_each():
    tasks = [asyncio.create_task(task(i)) for i in range(SIZE)]
    return sum([await one for one in tasks])


async def gather():
    return sum(await asyncio.gather(*[task(i) for i in range(SIZE)]))


async def task_group():
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(task(i)) for i in range(SIZE)]
    return sum([one.result() for one in tasks])


async def wait():
    tasks = [asyncio.create_task(task(i)) for i in range(SIZE)]
    await asyncio.wait(tasks)
    return sum([one.result() for one in tasks])


FORMS = {"await_each": await_each, "gather": gather, "TaskGroup": task_group, "wait": wait}


def cpu_time(loops, form):
    """CPU seconds of the process, user and system, for that many times the form in one event loop."""

    async def repeat():
        total, start = 0, time.process_time()
        for _ in range(loops):
            total += await form()
        return total, time.process_time() - start

    total, used = asyncio.run(repeat())
    if total != loops * 31 * SIZE * (SIZE - 1) // 2:
        raise SystemExit(f"the answers of {loops} iterations add up to {total}")
    return used


def pass_on(command, arguments):
    """Has the processes that pyperf starts measure the same form."""
    command += ["--form", arguments.form]


if __name__ == "__main__":
    runner = pyperf.Runner(add_cmdline_args=pass_on)
    runner.argparser.add_argument("--form", choices=FORMS, required=True)
    chosen = runner.parse_args().form
    runner.bench_time_func(chosen, cpu_time, FORMS[chosen], inner_loops=SIZE)
