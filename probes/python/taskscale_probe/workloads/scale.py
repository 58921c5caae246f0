"""`scale`: `size` calls that a given number of threads shares, handed to them by a loop that awaits them all."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

from ..runtimes import drive
from ..sdk import param, variant
from .count import Count
from .spin import spin

LOOPS = ("asyncio", "uvloop")
MOST_WORKERS = 1000


def declare(runtime):
    """The workload `scale` of asyncio and uvloop. Answer of an iteration: the sum of the calls' results."""
    if runtime in LOOPS:
        param("scale", "workers", 1, "threads of the executor")
        param("scale", "work", 0, "steps of spin per call; 0: the call gives 31 * i")
        note = "the loop has a thread more; of a Python with the GIL one of all threads runs at a time"
        variant("scale", "run_in_executor", note=note)(lambda run: perform(runtime, run))


kept = {}  # the executor of the last request, by its number of workers


def executor(workers):
    if workers not in kept:
        while kept:
            kept.popitem()[1].shutdown()
        kept[workers] = ThreadPoolExecutor(workers)
    return kept[workers]


def perform(runtime, run):
    workers = run.params["workers"]
    if not 1 <= workers <= MOST_WORKERS:
        raise LookupError(f"workers is {workers}; give 1 to {MOST_WORKERS}")
    pool, count = executor(workers), Count() if run.verify else None
    call = calls(run)
    if count:
        call = counted(call, count)

    async def one(_phases):
        submit = asyncio.get_running_loop().run_in_executor
        futures = []
        for i in range(run.size):
            if count:
                count.created()
            futures.append(submit(pool, call, i))
        return sum(await asyncio.gather(*futures))

    timing = drive(runtime, lambda: run.time_async(one))
    return count.report(run, timing) if count else timing


def calls(run):
    """What call i does."""
    seed, work = run.seed, run.params["work"]
    return (lambda i: spin(seed + i, work)) if work else (lambda i: 31 * i)


def counted(call, count):
    """The same, counted. Threads take turns at it, also where the loop counts what it created."""
    lock = threading.Lock()
    created = count.created

    def locked():
        with lock:
            created()

    def one(i):
        result = call(i)
        with lock:
            count.executed(result)
        return result

    count.created = locked
    return one
