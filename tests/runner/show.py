"""What is printed."""

import sys
from collections import deque

from outcomes import FAILED, PASSED, SKIPPED

# Lines of a log that are printed where a step failed.
SHOWN = 60


def said(step, line):
    print(f"{step:12} {line}", end="", flush=True)


def alive(step, outcomes, line):
    print(f"{step:12} goes on, {outcomes} so far: {line.strip()[:60]}", flush=True)


def step(result):
    """One line a step; what failed in full."""
    counts = [f"{result.count(status):5} {status}" for status in (PASSED, FAILED, SKIPPED)]
    warnings = f", {result.reader.warnings} warnings ({result.log})" if result.reader.warnings else ""
    print(f"{result.step:12} {', '.join(counts)}, {result.seconds:4.0f} s, {result.cpu_s:4.0f} s of CPU{warnings}", flush=True)
    for outcome in result.failed():
        print(f"\nFAILED {result.step}: {outcome.name}\n{outcome.why}", flush=True)
    if result.failed():
        print(f"\nThe whole of it is in {result.log}", flush=True)


def tail(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return "".join(deque(file, SHOWN))


def summary(results, seconds):
    """The last lines: each skip by name with reason and remedy, each failure by name, and the counts."""
    print()
    for line in skips(results):
        print(f"skipped  {line}")
    for result in results:
        for outcome in result.failed():
            print(f"FAILED   {result.step}: {outcome.name}")
    counts = {status: sum(result.count(status) for result in results) for status in (PASSED, FAILED, SKIPPED)}
    kinds = len(list(skips(results)))
    merged = f" ({kinds} kinds, above)" if kinds != counts[SKIPPED] else ""
    print(", ".join(f"{count} {status}" for status, count in counts.items()) + f"{merged}; {seconds:.0f} s")
    sys.stdout.flush()
    return 1 if counts[FAILED] else 0


def skips(results):
    """A line each; one that was skipped for the same reason in several groups (versions of Python) has one line for all."""
    groups = {}
    for result in results:
        for outcome in result.outcomes.values():
            if outcome.status == SKIPPED:
                group, _, name = outcome.name.rpartition(": ")
                # unittest names the class as well, differently from version to version.
                name = name.partition(" (")[0]
                groups.setdefault((result.step, name, outcome.why), []).append(group)
    for (step, name, why), where in groups.items():
        where = ", ".join(group for group in where if group)
        yield ": ".join(part for part in (step, where, name, why or "no reason is given") if part)
