"""The two clocks, both in nanoseconds."""

import time

# Monotonic. Costs about 50 ns from Python.
wall_ns = time.perf_counter_ns
# CPU that all threads of this process have used, user and system. Costs a system call, about 300 ns.
cpu_ns = time.process_time_ns


def resolution_ns(clock):
    """The smallest step that `clock` was seen to make in 1,000 steps: what it can really show, cost of reading it
    included, and not the 1 ns that `time.get_clock_info` promises."""

    def step():
        start = now = clock()
        while now == start:
            now = clock()
        return now - start

    return min(step() for _ in range(1000))
