"""Control, nasty: n small lists of lists, all alive at once, with the cyclic collector at work."""

import platform

from taskscale_probe.sdk import serve, variant


def build(n):
    rows = []
    for i in range(n):
        rows.append([[i], [i, i], {"i": [i]}])
    return sum(row[0][0] for row in rows) + 1


@variant("build", "lists", creates_task=False)
def lists(run):
    return run.time(lambda _phases: build(run.size))


serve("py_lists_gc", platform.python_version())
