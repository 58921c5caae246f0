"""Cliff, small constant: a dict as a queue. next(iter(d)) walks over all entries deleted before."""

import platform
from collections import OrderedDict

from taskscale_probe.sdk import serve, variant


def drain(queue):
    total = 0
    while queue:
        key = next(iter(queue))
        total += queue.pop(key)
    return total


@variant("queue", "dict", creates_task=False)
def plain(run):
    return run.time(lambda _phases: drain({i: i + 1 for i in range(run.size)}))


@variant("queue", "OrderedDict", creates_task=False)  # the fix: a linked list beside the table
def ordered(run):
    return run.time(lambda _phases: drain(OrderedDict((i, i + 1) for i in range(run.size))))


serve("py_dict_first", platform.python_version())
