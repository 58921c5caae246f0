"""Stands for `taskscale` while the commands of the pages run: what measures is kept short, all else is passed on.

`taskscale run` measures four samples of 0.2 ms in at most 6 s a cell, whatever the page says of these. Where it names
neither a runtime nor a suite of its own, nor runs a probe without a suite, it takes tokio and asyncio, since sixteen runtimes take minutes. A sweep or a
suite of many sizes is whole, within a budget of 6 s a cell; of `nop`, `parked` and `cancel` only the smallest sizes, since a million
tasks of asyncio take longer than that however few samples there are; of `bytes` a small one for the same reason.
A busy machine may measure no row in 6 s. Then the command runs once more with 30 s, and once more with 120 s.
"""

import os
import subprocess
import sys

# What a page may say, and what stands for it; None: the page's own is left out.
SHORT = {"--samples": "4", "--sample-time": "200us", "--max-time": "6s", "--timeout": "120s", "--precision": None}
ALONE = ["--quick"]
SMALLEST = {"nop": ["--size", "100000"], "parked": ["--size", "1000", "--size", "10000"], "bytes": ["--size", "65536"],
            "cancel": ["--size", "2000", "--size", "4000"]}
RUNTIMES = ["--runtime", "tokio", "--runtime", "asyncio"]


LONGER = ["30s", "120s"]
TOO_SHORT = "no time was left for its"


def short(arguments):
    if arguments[:1] != ["run"] or "--help" in arguments:
        return arguments
    kept, skip = [], False
    for argument in arguments:
        if skip:
            skip = False
        elif argument in SHORT:
            skip = True
        elif argument.split("=")[0] not in SHORT and argument not in ALONE:
            kept.append(argument)
    named = any(argument.split("=")[0] in ("--runtime", "-r") for argument in kept) or is_free(kept)
    sized = any(argument.split("=")[0] == "--size" for argument in kept)
    size = [] if sized else SMALLEST.get(kept[1] if kept[1:] else "", [])
    limits = [part for name, value in SHORT.items() if value for part in (name, value)]
    return kept + limits + size + ([] if named else RUNTIMES)


def is_free(arguments):
    """Whether this is a probe without a suite, which runs beside no runtime."""
    return arguments[1:2] == ["--probe"]


def main(tool, arguments):
    arguments = short(arguments)
    if "--max-time" not in arguments:
        os.execv(tool, [tool, *arguments])
    at = arguments.index("--max-time") + 1
    for time in [arguments[at], *LONGER]:
        done = subprocess.run([tool, *arguments[:at], time, *arguments[at + 1 :]], capture_output=True, check=False)
        if done.returncode != 2 or TOO_SHORT not in " ".join(done.stdout.decode().split()):
            break
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(os.environ["TASKSCALE_TOOL"], sys.argv[1:]))
