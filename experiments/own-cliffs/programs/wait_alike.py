"""Control: n waits of the same length, one behind the other."""

import platform
import time

from taskscale_probe.sdk import serve, variant


def one(n):
    for _ in range(n):
        time.sleep(200e-6)
    return n


@variant("wait", "alike", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_alike", platform.python_version())
