"""What a probe says of itself. The fields are those of protocol 1 (`probes/PROTOCOL.md`)."""

import platform
import sys

from .clock import cpu_ns, resolution_ns, wall_ns
from .counters import COUNTERS

PROTOCOL = 1

# What `param` and `variant` declared: {workload: {"params": {name: fields}, "variants": {name: (fields, perform)}}}
WORKLOADS = {}


def param(workload, name, default, help, choices=(), unavailable=None):
    """Declares a parameter of a workload; the type of its default is its type, and a word is one of `choices`.
    `unavailable` has the words that are not to be had here, each with its reason and remedy."""
    fields = {"name": name, "default": default, "choices": list(choices), "help": help}
    fields.update({"unavailable": unavailable} if unavailable else {})
    declared(workload)["params"][name] = fields


def variant(workload, name, creates_task=True, **about):
    """Declares a way of doing a workload: a function that takes a `Run` and returns what `run.time` gave.

    `creates_task` says whether each unit is a task that the scheduler sees. `about` may hold `only`, `max_size`,
    `unavailable` and `note`."""
    fields = {"name": name, "creates_task": creates_task}
    fields.update((key, value) for key, value in about.items() if value)

    def declare(perform):
        declared(workload)["variants"][name] = fields, perform
        return perform

    return declare


def declared(workload):
    """The workload of that name, which the first that is declared of it makes."""
    return WORKLOADS.setdefault(workload, {"params": {}, "variants": {}})


def description(name, version, workers):
    """The reply to `describe`. Measures the clocks' resolution, which takes a few milliseconds."""
    return {
        "type": "description",
        "protocol": PROTOCOL,
        "runtime": {"name": name, "language": "python", "version": version, "toolchain": toolchain()},
        "clock": {"wall_resolution_ns": resolution_ns(wall_ns), "cpu_resolution_ns": resolution_ns(cpu_ns)},
        "workers": workers,
        "counters": COUNTERS,
        "workloads": [
            {
                "name": workload,
                "params": list(about["params"].values()),
                "variants": [fields for fields, _ in about["variants"].values()],
            }
            for workload, about in WORKLOADS.items()
        ],
    }


def toolchain():
    """`CPython 3.11.7 (GCC 12.2.0)`; says so where the interpreter runs without its global lock."""
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    name, version = platform.python_implementation(), platform.python_version()
    return f"{name} {version} ({platform.python_compiler()}{'' if gil else ', no GIL'})"
