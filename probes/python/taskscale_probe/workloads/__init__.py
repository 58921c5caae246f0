"""The workloads, and what the instrumented runs of all of them count with."""

from . import bytes as byte_stream
from . import drain, fanout, graph, interp, nop, parked, scale, spin


def declare(runtime):
    """Declares all workloads with the variants of `runtime`."""
    for workload in (fanout, nop, spin, drain, graph, interp, parked, scale, byte_stream):
        workload.declare(runtime)
