"""The workloads, and what the instrumented runs of all of them count with."""

from . import blocking
from . import bytes as byte_stream
from . import cancel, context, drain, fanout, graph, idle, interp, nop, parked, pingpong, remote, scale, spin


def declare(runtime):
    """Declares all workloads with the variants of `runtime`."""
    tasks = (fanout, nop, spin, drain, graph, interp, parked, scale, pingpong, remote, context, idle, cancel)
    for workload in (*tasks, blocking, byte_stream):
        workload.declare(runtime)
