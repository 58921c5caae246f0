"""Runs the suite again and again, in three ways, and says which test did not always end alike."""

import json
import os
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import suite
from outcomes import FAILED
from steps import TARGET

# How the machine is while the tests run.
WAYS = {
    "as-it-is": "as `make test` runs them",
    "busy": "beside a busy loop on each core, two at a time",
    "one-core": "held to one core each (taskset -c 0), as many at a time as there are",
}
# So many runs at once; those held to one core share nothing but memory.
AT_A_TIME = {"as-it-is": 1, "busy": 2}
# Holds what it starts to one core.
HOLD = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); os.execvp(sys.argv[2], sys.argv[2:])"


def main(steps, times, ways, verbose):
    static = [step.name for step in steps if step.static]
    steps = [step for step in steps if not step.static]
    if static:
        print(f"not repeated, as they look at files alone: {', '.join(static)}")
    if not steps:
        return 2
    folder = TARGET / "test-often"
    folder.mkdir(parents=True, exist_ok=True)
    print(f"{times} runs of {len(steps)} steps in each of {len(ways)} ways, after one that builds:", flush=True)
    for way in ways:
        print(f"  {way:9} {WAYS[way]}", flush=True)
    first = suite.run(steps, verbose=verbose, logs=folder / "first")
    if any(outcome.name == result.step for result in first for outcome in result.failed()):
        print("a step failed as a whole: mend that first")
        return 1
    seen = defaultdict(Counter)
    runs = Counter()
    try:
        for way in ways:
            for number, results, seconds in all_of(way, times, steps, folder, verbose):
                runs[way] += 1
                keep(folder, way, number, results)
                for result in results:
                    for outcome in result.outcomes.values():
                        seen[f"{result.step}: {outcome.name}"][way, outcome.status] += 1
                failed = [
                    f"{result.step}: {outcome.name} ({result.log})" for result in results for outcome in result.failed()
                ]
                total = sum(len(result.outcomes) for result in results)
                said = f"{way:9} {number:3} of {times}: {total} tests, {len(failed)} failed, {seconds:4.0f} s"
                print("\n         ".join([said, *failed]), flush=True)
    except KeyboardInterrupt:
        print("\ninterrupted; so far:")
        tell(seen, runs, folder)
        return 130
    return tell(seen, runs, folder)


def all_of(way, times, steps, folder, verbose):
    """The number of each run, its results and how long it took."""
    cores = sorted(os.sched_getaffinity(0)) if way == "one-core" else [None] * AT_A_TIME[way]
    loops = busy_loops() if way == "busy" else []
    try:
        with ThreadPoolExecutor(len(cores)) as pool:
            for first in range(1, times + 1, len(cores)):
                numbers = range(first, min(first + len(cores), times + 1))
                once_more = [pool.submit(once, steps, core, folder / f"{way}-{number}", verbose) for number, core in zip(numbers, cores)]
                try:
                    for number, done in zip(numbers, once_more):
                        yield (number, *done.result())
                except BaseException:
                    # The pool waits for what it has begun.
                    suite.stop()
                    raise
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def once(steps, core, logs, verbose):
    begun = time.monotonic()
    prefix = (sys.executable, "-c", HOLD, str(core)) if core is not None else ()
    lanes = 1 if core is not None else None
    results = suite.run(steps, build=False, lanes=lanes, prefix=prefix, logs=logs, quiet=True, verbose=verbose)
    return results, time.monotonic() - begun


def busy_loops():
    """One for each processor that this process may use, bound to it."""
    # Each ends with this process, whoever inherits it.
    program = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile os.getppid() == int(sys.argv[2]): pass"
    return [
        subprocess.Popen([sys.executable, "-c", program, str(cpu), str(os.getpid())], start_new_session=True)
        for cpu in sorted(os.sched_getaffinity(0))
    ]


def keep(folder, way, number, results):
    """A line for each run, so that what was seen outlives an interruption."""
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "way": way,
        "number": number,
        "seconds": {result.step: round(result.seconds, 1) for result in results},
        "failed": {
            f"{result.step}: {outcome.name}": outcome.why for result in results for outcome in result.failed()
        },
        "tests": sum(len(result.outcomes) for result in results),
    }
    with open(folder / "runs.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def tell(seen, runs, folder):
    differed = differing(seen, runs)
    done = ", ".join(f"{count} {way}" for way, count in runs.items())
    print(f"\n{len(seen)} tests, {sum(runs.values())} runs ({done}): {len(differed)} differed or failed")
    for line in differed:
        print(f"  {line}")
    print(f"What each run said: {folder}")
    return 1 if differed or not runs else 0


def differing(seen, runs):
    """A line for each test that failed, ended in two ways, or was not there in some run: its program died before it."""
    lines = []
    for test, counts in sorted(seen.items()):
        ends = {status for _, status in counts}
        if len(ends) > 1 or FAILED in ends or sum(counts.values()) != sum(runs.values()):
            of_way = [f"{status} {count} of {runs[way]} {way}" for (way, status), count in sorted(counts.items())]
            lines.append(f"{test}: {', '.join(of_way)}")
    return lines
