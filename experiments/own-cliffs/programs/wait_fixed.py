"""Control: a wait of 50 ms whatever n is, and n steps of work."""

import platform
import time

from taskscale_probe.sdk import serve, variant


def one(n):
    time.sleep(0.05)
    return sum(i * 31 for i in range(n)) + 1


@variant("wait", "fixed", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_fixed", platform.python_version())
