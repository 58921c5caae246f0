"""Serves the probe of one runtime."""

import platform
import sys

from .runtimes import RUNTIMES, version_of
from .sdk import serve, serve_missing


def main(runtime):
    """Serves the probe of `runtime` on standard input and output. Returns the exit status: 0 at the end of input or
    after `exit`, 1 where a pipe failed, 2 where there is no such runtime."""
    if runtime not in RUNTIMES:
        known = ", ".join(RUNTIMES)
        print(f"no runtime {runtime!r} in this probe; choose one of {known}", file=sys.stderr)
        return 2
    try:
        version = version_of(runtime)
    except ImportError:
        where = f"{platform.python_version()}, {sys.executable}"
        get = f"taskscale setup python, or for this Python: python -m pip install {runtime}"
        return serve_missing(f"{runtime} is not installed for this Python ({where})", get)
    # What they are made of may need the runtime.
    from . import workloads

    workloads.declare(runtime)
    return serve(runtime, version)
