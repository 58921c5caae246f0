"""Cliff in wall time: CPU time is linear and most at small sizes, then a wait of n² is."""

import platform
import time

from taskscale_probe.sdk import serve, variant


def one(n):
    steps = 0
    for _ in range(n):
        for step in range(10):
            steps += step
    time.sleep(n * n * 0.4e-9)
    return steps + 1


@variant("wait", "squared", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_work_first", platform.python_version())
