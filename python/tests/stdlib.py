"""Runs the standard library's own tests of asyncio with and without the observer, and compares what fails.

    python tests/stdlib.py [--jobs N] [MODULE ...]      in an environment that has taskscale

Each module of ``test.test_asyncio`` (and three others that await or use threads of pools) runs in a process of its own, in three
ways: without the observer; with it, as a program has it; and so that tasks are observed too that tests make without a
loop, with queue delays. A test that differs runs three times more each way, so that one that fails now and then for reasons of its own is told apart. Exit
status 1 where a difference is not listed in EXPECTED with its reason, which only the third way may have.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib
import json
import os
import pkgutil
import platform
import subprocess
import sys
import tempfile
from collections import Counter

#: The ways, and what each is called.
PLAIN, OBSERVED, EVERY_TASK = range(3)
WORDS = ("plain", "observed", "every task")

#: Tests that cannot pass where every task is observed, and why: by the end of their id.
EXPECTED: dict[str, str] = {
    ".test_get_coro": "asserts that get_coro() `is` the coroutine; it is equal to it, and an object of its own",
    ".test_task_source_traceback": "asserts who called new_task(), which is this script (see observe_new_tasks)",
}

#: Seconds for one module.
TIMEOUT = 600


def observe_new_tasks(suite) -> None:
    """Most tests of tasks make them without a loop's ``create_task``, by ``new_task``; with this they are seen, too."""
    from taskscale._taskscale import observed

    def observe(cls: type) -> None:
        original = vars(cls).get("new_task")
        if original is not None and not getattr(original, "observed", False):

            def new_task(self, *arguments, **keywords):
                return original(self, *map(observed, arguments), **keywords)

            new_task.observed = True
            cls.new_task = new_task

    for item in suite:
        if hasattr(item, "__iter__"):
            observe_new_tasks(item)
        else:
            for cls in type(item).__mro__:
                observe(cls)


def child(module: str, way: int, names: list[str], output: str) -> None:
    """Runs tests of a module, or those named, and writes the outcome of each."""
    import unittest

    import taskscale

    class Result(unittest.TestResult):
        def __init__(self) -> None:
            super().__init__()
            self.outcomes: dict[str, str] = {}
            self.details: dict[str, str] = {}

        def _set(self, test: unittest.TestCase, outcome: str, detail: str = "") -> None:
            # A subtest that fails is followed by no success.
            self.outcomes[test.id()] = outcome
            if detail:
                self.details[test.id()] = detail

        def addSuccess(self, test):
            self.outcomes.setdefault(test.id(), "passed")

        def addSkip(self, test, reason):
            self._set(test, "skipped")

        def addFailure(self, test, error):
            self._set(test, "failed", self._exc_info_to_string(error, test))

        addError = addFailure

        def addSubTest(self, test, subtest, error):
            if error is not None:
                self._set(test, "failed", self._exc_info_to_string(error, test))

        def addExpectedFailure(self, test, error):
            self._set(test, "failed as expected")

        def addUnexpectedSuccess(self, test):
            self._set(test, "passed unexpectedly")

    loader = unittest.TestLoader()
    result = Result()
    try:
        suite = loader.loadTestsFromNames(names) if names else loader.loadTestsFromName(module)
    except unittest.SkipTest:
        suite, result.outcomes = unittest.TestSuite(), {module: "skipped"}
    observation = taskscale.observe(queue_delays=way == EVERY_TASK)
    if way != PLAIN:
        observation.start()
    if way == EVERY_TASK:
        observe_new_tasks(suite)
    suite.run(result)
    steps = observation.data()["tasks"] if way != PLAIN else 0
    if way != PLAIN:
        observation.stop()
    with open(output, "w", encoding="utf-8") as file:
        json.dump({"outcomes": result.outcomes, "details": result.details, "steps": steps}, file)


def run(module: str, way: int, names: list[str] | None = None) -> dict:
    """The same in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "outcomes.json")
        command = [sys.executable, __file__, "--child", module, output, str(way), *(names or [])]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, timeout=TIMEOUT, text=True, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return {"outcomes": {module: "did not end"}, "details": {}, "steps": 0}
        if not os.path.exists(output):
            return {
                "outcomes": {module: f"the process ended with {done.returncode}"},
                "details": {module: done.stderr[-3000:]},
                "steps": 0,
            }
        with open(output, encoding="utf-8") as file:
            return json.load(file)


def modules() -> list[str]:
    try:
        package = importlib.import_module("test.test_asyncio")
    except ImportError:
        print(f"skipped: {platform.python_version()}: its standard library comes without the tests of asyncio")
        raise SystemExit(0)
    names = [info.name for info in pkgutil.iter_modules(package.__path__) if info.name.startswith("test_")]
    found = [f"test.test_asyncio.{name}" for name in names]
    for other in ("test_concurrent_futures.test_thread_pool", "test_contextlib_async", "test_coroutines"):
        try:
            importlib.import_module(f"test.{other}")
            found.append(f"test.{other}")
        except ImportError:
            # Up to 3.11 all pools are tested in one module.
            if "thread_pool" in other:
                found.append("test.test_concurrent_futures.ThreadPoolExecutorTest")
    return found


def differences(module: str, plain: dict, ours: dict) -> dict[str, tuple[str, str]]:
    names = plain["outcomes"].keys() | ours["outcomes"].keys()
    pairs = {name: (plain["outcomes"].get(name, "-"), ours["outcomes"].get(name, "-")) for name in names}
    return {name: pair for name, pair in sorted(pairs.items()) if pair[0] != pair[1]}


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        module, output, way, *names = sys.argv[2:]
        child(module, int(way), names, output)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true", help="show why a test fails")
    parser.add_argument("modules", nargs="*", help="such as test.test_asyncio.test_tasks; all without")
    options = parser.parse_args()

    wanted = options.modules or modules()
    counts = [Counter() for _ in WORDS]
    steps, unexpected = [0, 0, 0], 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        ways = {module: [pool.submit(run, module, way) for way in range(3)] for module in wanted}
        for module, futures in ways.items():
            results = [future.result() for future in futures]
            for way, result in enumerate(results):
                counts[way].update(result["outcomes"].values())
                steps[way] += result["steps"]
            for way in (OBSERVED, EVERY_TASK):
                for name, pair in differences(module, results[PLAIN], results[way]).items():
                    tries = [[run(module, each, [name])["outcomes"].get(name, "-") for _ in range(3)] for each in (PLAIN, way)]
                    if name != module and sorted(tries[0]) == sorted(tries[1]):
                        print(f"now and then: {name}: {pair[0]} and {pair[1]}, then {', '.join(tries[0])} both ways")
                        continue
                    reason = next((why for end, why in EXPECTED.items() if way == EVERY_TASK and name.endswith(end)), None)
                    unexpected += reason is None
                    print(f"{'differs' if reason is None else 'expected'}: {name}: {pair[0]}, {WORDS[way]} {pair[1]}: {reason or tries}")
                    if options.verbose or reason is None:
                        print(results[way]["details"].get(name, ""))
    for way, word in enumerate(WORDS):
        words = ", ".join(f"{count} {outcome}" for outcome, count in counts[way].most_common())
        print(f"Python {platform.python_version()}, {word:10}: {words}; {steps[way]} steps seen")
    print(f"{len(wanted)} modules, {unexpected} unexpected differences")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
