"""``python -m taskscale.observe script.py [arguments]``: observes a program that knows nothing of it.

The digest goes to standard error when the program ends, however it ends.
"""

from __future__ import annotations

import argparse
import os
import runpy
import sys
from typing import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the script, or the module, as ``python`` would, and prints the digest."""
    from taskscale._observation import observe

    parser = argparse.ArgumentParser(
        prog="python -m taskscale.observe",
        usage="%(prog)s [--json FILE] [--queue-delays] (script.py | -m module) [arguments ...]",
        description="Runs a Python program and prints where the time of its asyncio tasks went.",
    )
    parser.add_argument("--json", metavar="FILE", help="write the digest as JSON here, too")
    parser.add_argument(
        "--queue-delays", action="store_true", help="also take how long steps wait in the queues of their loops"
    )
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module's name")
    parser.add_argument("program", help="script, or module with -m")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program is given")
    options = parser.parse_args(arguments)

    sys.argv = [options.program, *options.arguments]
    observation = observe(queue_delays=options.queue_delays)
    try:
        with observation:
            if options.module:
                runpy.run_module(options.program, run_name="__main__", alter_sys=True)
            else:
                # As `python script.py`: the folder of the script, where -P does not forbid it, and not the current one.
                if not sys.flags.safe_path:
                    sys.path[0] = os.path.dirname(os.path.abspath(options.program))
                runpy.run_path(options.program, run_name="__main__")
    finally:
        print(observation, file=sys.stderr, end="")
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                file.write(observation.json())


if __name__ == "__main__":
    main()
else:
    # `import taskscale.observe` puts this module where the function was; so it can be called like it.
    class _Module(type(sys)):  # type: ignore[misc]
        def __call__(self, *, queue_delays: bool = False) -> object:
            from taskscale._observation import observe

            return observe(queue_delays=queue_delays)

    sys.modules[__name__].__class__ = _Module
