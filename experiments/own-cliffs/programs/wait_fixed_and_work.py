"""Cliff in CPU time behind a wait of 20 ms."""

import platform
import time

from taskscale_probe.sdk import serve, variant


def one(n):
    time.sleep(0.02)
    return sum(sum(range(n // 16)) for _ in range(n)) + 1


@variant("wait", "and work", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_fixed_and_work", platform.python_version())
