"""The workloads, and what the instrumented runs of all of them count with."""

from . import bytes as byte_stream
from . import drain, fanout, graph, interp, nop, parked, pingpong, spin


def declare(runtime):
    """Declares all workloads with the variants of `runtime`."""
    for workload in (fanout, nop, spin, drain, graph, interp, parked, pingpong, byte_stream):
        workload.declare(runtime)
