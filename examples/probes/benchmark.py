"""A function of pytest-benchmark, weighed as it is. taskscale run --probe benchmark.py"""

import platform

from taskscale_probe.sdk import serve, variant


def test_sort(benchmark, n=1_000):
    numbers = [31 * i % n for i in range(n)]  # out here nothing is timed
    assert benchmark(sorted, numbers) == sorted(numbers)


# Where it lies in a file of its own: from test_sorting import test_sort
@variant("sort", "test_sort", creates_task=False)
def perform(run):
    return run.benchmark(test_sort, run.size)


serve("sorting", platform.python_version())
