"""Cliff in wall time: the i-th wait is i times as long."""

import platform
import time

from taskscale_probe.sdk import serve, variant


def one(n):
    for i in range(n):
        time.sleep(i * 20e-6)
    return n


@variant("wait", "each", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_each", platform.python_version())
