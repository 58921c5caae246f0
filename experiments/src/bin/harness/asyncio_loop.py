"""The asyncio loop that anyone would write by hand, to hold the probe to. Reads a number of iterations a line and
answers with CPU and wall nanoseconds of them."""

import asyncio
import sys
import time


async def task(i):
    return 31 * i


async def fan_out(n):
    tasks = [asyncio.create_task(task(i)) for i in range(n)]
    return sum([await t for t in tasks])


async def main(n, iterations):
    total = 0
    wall, cpu = time.perf_counter_ns(), time.process_time_ns()
    for _ in range(iterations):
        total += await fan_out(n)
    cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
    assert total == iterations * 31 * n * (n - 1) // 2
    return cpu, wall


for line in sys.stdin:
    cpu, wall = asyncio.run(main(int(sys.argv[1]), int(line)))
    print(cpu, wall, flush=True)
