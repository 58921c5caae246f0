"""The patterns that an asyncio program can have, as they are and with the digest's advice taken: one run, of which one line of
JSON is printed. The loop is one worker; its thread pool has eight, which the digest of the pool's work items shows.

    python asyncio_programs.py PATTERN as-is|fixed BY observed|plain

BY is the number in the advice: so many pieces of a task, or tasks in a batch. `compare` starts it. Numbers and milliseconds are
those of program.hpp.
"""

import asyncio
import contextlib
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

WORKERS = 8
#: Steps that give way to others; each computes for some microseconds.
STEPS, TURNS = 200_000, 20


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def compute():
    value = 1
    for _ in range(TURNS):
        value = value * 6364136223846793005 & 0xFFFFFFFFFFFFFFFF
    return value


async def healthy(_pool, _by):
    async def handler():
        for _ in range(10):
            spin(0.0004)
            await asyncio.sleep(0)

    await asyncio.gather(*(handler() for _ in range(100)))


async def overhead(_pool, by):
    async def part(steps):
        for _ in range(0, steps, by):
            for _ in range(by):
                compute()
            await asyncio.sleep(0)

    await asyncio.gather(*(part(STEPS // 50) for _ in range(50)))


async def at_once(pool, tasks, seconds):
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(pool, time.sleep, seconds) for _ in range(tasks)))


async def serial(pool, by):
    for _ in range(6):
        await at_once(pool, by, 0.060 / by)
        await at_once(pool, 16, 0.005)


async def straggler(pool, by):
    await asyncio.gather(at_once(pool, by, 0.4 / by), at_once(pool, 160, 0.002))


async def under(pool, by):
    await at_once(pool, 2 * by, 0.3 / by)


#: The program, and whether its tasks are the pool's.
PROGRAMS = {
    "HEALTHY": (healthy, False),
    "SCHEDULING_OVERHEAD": (overhead, False),
    "SERIAL_BOTTLENECK": (serial, True),
    "STRAGGLER_TASKS": (straggler, True),
    "UNDER_DECOMPOSITION": (under, True),
}


async def timed(program, pool, by):
    cpu, begin = time.process_time(), time.perf_counter()
    await program(pool, by)
    return time.perf_counter() - begin, time.process_time() - cpu


def main():
    pattern, change, by, look = sys.argv[1:]
    program, pooled = PROGRAMS[pattern]
    with contextlib.ExitStack() as stack:
        seen = None
        if look == "observed":
            import taskscale

            seen = stack.enter_context(taskscale.observe())
        pool = stack.enter_context(ThreadPoolExecutor(WORKERS))
        for nap in [pool.submit(time.sleep, 0.01) for _ in range(WORKERS)]:
            nap.result()  # so that all threads are there
        if seen:
            seen.clear()
        seconds, cpu = asyncio.run(timed(program, pool, int(by) if change == "fixed" else 1))
    digest = (seen.pools if pooled else seen) if seen else None
    text = len(str(digest).encode()) if digest else 0
    json.dump({"seconds": seconds, "cpu": cpu, "text": text, "digest": digest.data() if digest else None}, sys.stdout)


if __name__ == "__main__":
    main()
