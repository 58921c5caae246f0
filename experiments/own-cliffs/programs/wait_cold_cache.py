"""Cliff in fresh processes: what is not in the cache is waited for, the i-th i times as long."""

import platform
import time

from taskscale_probe.sdk import serve, variant

CACHE = set()


def one(n):
    for i in range(n):
        if i not in CACHE:
            time.sleep(i * 10e-6)
            CACHE.add(i)
    return n


@variant("fill", "cache", creates_task=False)
def perform(run):
    return run.time(lambda _phases: one(run.size))


serve("wait_cold_cache", platform.python_version())
