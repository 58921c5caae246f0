"""Cliff in fresh processes: the first call of a process waits for n²."""

import platform
import time

from taskscale_probe.sdk import serve, variant

OPENED = []


def one(n):
    if not OPENED:
        time.sleep(n * n * 1e-6)
        OPENED.append(n)
    return sum(range(n)) + 1


@variant("open", "once", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_cold_once", platform.python_version())
