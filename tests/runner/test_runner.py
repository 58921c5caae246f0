"""The runner's own tests: what each tool prints is read, and nothing that failed or was skipped is lost."""

import pathlib
import tempfile
import unittest

import often
import show
import suite
from outcomes import FAILED, PASSED, SKIPPED, Reader
from steps import Step
from suite import Result

CARGO = """\
   Compiling taskscale-cli v0.1.0
     Running unittests src/lib.rs (target/debug/deps/taskscale_bench-a68e058eccc97a41)

running 2 tests
test plan::tests::a ... ok
test plan::tests::b - should panic ... ok

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s

     Running tests/order/main.rs (target/debug/deps/order-4e4530717f660a6e)

running 4 tests
test stop::c ... FAILED
test d ... ignored, not today
test e ... ok
test f ... ok

successes:

---- e stdout ----
skipped: e: no go on the PATH (install Go)

successes:
    e
    f

failures:

---- stop::c stdout ----
assertion failed: 1 == 2
  left: 1


failures:
    stop::c

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.02s
"""

ONE_THREAD = """\
     Running tests/help.rs (target/debug/deps/help-6a02a627053effe5)

running 2 tests
test help_says ... Testing a.trycmd:2 ... ok 2ms 75us 941ns
Testing b.trycmd:2 ... ok 1ms 467us 91ns
ok
test loud ... what it says
FAILED

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s
"""

UNITTEST = """\
== python3.8
test_a (test_probe.Fanout) ... ok
test_b (test_probe.Fanout) ... skipped 'trio is not installed (pip install trio)'
test_c (test_probe.Fanout) ... FAIL

======================================================================
FAIL: test_c (test_probe.Fanout)
----------------------------------------------------------------------
Traceback (most recent call last):
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.1s
"""

GO = """\
{"Action":"run","Package":"taskscale/sdk","Test":"TestA"}
{"Action":"output","Package":"taskscale/sdk","Test":"TestA","Output":"=== RUN\\n"}
{"Action":"pass","Package":"taskscale/sdk","Test":"TestA","Elapsed":0}
{"Action":"output","Package":"taskscale/sdk","Test":"TestB","Output":"=== RUN\\n"}
{"Action":"output","Package":"taskscale/sdk","Test":"TestB","Output":"    a_test.go:3: no cgroups (run in one)\\n"}
{"Action":"skip","Package":"taskscale/sdk","Test":"TestB","Elapsed":0}
{"Action":"output","Package":"taskscale/sdk","Test":"TestC","Output":"boom\\n"}
{"Action":"fail","Package":"taskscale/sdk","Test":"TestC","Elapsed":0}
{"Action":"fail","Package":"taskscale/sdk","Elapsed":0.1}
{"Action":"output","Package":"taskscale/workloads","Output":"does not compile\\n"}
{"Action":"fail","Package":"taskscale/workloads","Elapsed":0}
"""

TAP = """\
TAP version 13
# Subtest: one
ok 1 - one
  ---
  duration_ms: 4.1
  ...
ok 2 - two # SKIP no inspector here
not ok 3 - three
  ---
  error: 'Expected 0 to equal 3'
  ...
ok 4 - four
"""

SCRIPT = """\
ok: taskflow under thread, 80 answers
skipped: onetbb: g++ finds no <tbb/task_group.h> (apt install libtbb-dev)
FAILED: openmp: it gives other answers (right of >)
"""


def read(text):
    reader = Reader()
    for line in text.splitlines(keepends=True):
        reader.line(line)
    return {name: (outcome.status, outcome.why.strip()) for name, outcome in reader.outcomes.items()}


class Reading(unittest.TestCase):
    def test_cargo(self):
        self.assertEqual(
            read(CARGO),
            {
                "taskscale_bench lib: plan::tests::a": (PASSED, ""),
                "taskscale_bench lib: plan::tests::b - should panic": (PASSED, ""),
                "tests/order: stop::c": (FAILED, "assertion failed: 1 == 2\n  left: 1"),
                "tests/order: d": (SKIPPED, "not today"),
                "tests/order: e": (SKIPPED, "e: no go on the PATH (install Go)"),
                "tests/order: f": (PASSED, ""),
            },
        )

    def test_a_verdict_behind_what_a_test_printed(self):
        self.assertEqual(
            read(ONE_THREAD), {"tests/help: help_says": (PASSED, ""), "tests/help: loud": (FAILED, "")}
        )

    def test_unittest(self):
        outcomes = read(UNITTEST)
        self.assertEqual(outcomes["python3.8: test_a (test_probe.Fanout)"], (PASSED, ""))
        self.assertEqual(
            outcomes["python3.8: test_b (test_probe.Fanout)"], (SKIPPED, "trio is not installed (pip install trio)")
        )
        status, why = outcomes["python3.8: test_c (test_probe.Fanout)"]
        self.assertEqual(status, FAILED)
        self.assertIn("AssertionError: 1 != 2", why)
        self.assertEqual(len(outcomes), 3)

    def test_go(self):
        self.assertEqual(
            read(GO),
            {
                "taskscale/sdk TestA": (PASSED, ""),
                "taskscale/sdk TestB": (SKIPPED, "a_test.go:3: no cgroups (run in one)"),
                "taskscale/sdk TestC": (FAILED, "boom"),
                "taskscale/workloads": (FAILED, "does not compile"),
            },
        )

    def test_tap_and_scripts(self):
        self.assertEqual(
            read(TAP),
            {
                "one": (PASSED, ""),
                "two": (SKIPPED, "no inspector here"),
                "three": (FAILED, "---\n  error: 'Expected 0 to equal 3'\n  ..."),
                "four": (PASSED, ""),
            },
        )
        self.assertEqual(
            read(SCRIPT),
            {
                "taskflow under thread, 80 answers": (PASSED, ""),
                "onetbb": (SKIPPED, "g++ finds no <tbb/task_group.h> (apt install libtbb-dev)"),
                "openmp": (FAILED, "it gives other answers (right of >)"),
            },
        )

    def test_a_line_that_was_missed_is_a_failure(self):
        for text, lost in [(CARGO, "test f ... ok\n"), (UNITTEST, "test_a (test_probe.Fanout) ... ok\n")]:
            outcomes = read(text.replace(lost, "test f ... something new\n"))
            missed = [name for name, (status, _) in outcomes.items() if "the reader of this output" in name]
            self.assertEqual(len(missed), 1, outcomes)

    def test_a_class_that_cannot_be_set_up_is_named(self):
        outcomes = read("== python3.8\nERROR: setUpClass (test_a.B)\nNameError: c\n\nRan 0 tests in 0.0s\n")
        self.assertEqual(outcomes["python3.8: setUpClass (test_a.B)"][0], FAILED)
        self.assertIn("NameError: c", outcomes["python3.8: setUpClass (test_a.B)"][1])

    def test_warnings_are_counted(self):
        reader = Reader()
        for line in ["warning: unused variable: `x`\n", "a.cpp:3:5: warning: unused\n", "test warning ... ok\n"]:
            reader.line(line)
        self.assertEqual(reader.warnings, 2)


class Order(unittest.TestCase):
    def test_what_replaces_a_program_waits_for_those_that_run_it(self):
        with tempfile.TemporaryDirectory() as folder:
            said = pathlib.Path(folder, "said")

            def say(word, first=""):
                return f"{first} echo {word} >> {said}"

            steps = [
                Step("runs-it", say("run", "sleep 0.3;"), build=say("built")),
                Step("replaces-it", say("own-run"), build=say("replaced"), behind=("runs-it",)),
                Step("other", say("other"), after=("runs-it",)),
            ]
            results = suite.run(steps, lanes=2, logs=pathlib.Path(folder), quiet=True)
            self.assertEqual([result.count(PASSED) for result in results], [1, 1, 1])
            self.assertEqual(said.read_text().split(), ["built", "other", "run", "replaced", "own-run"])
            said.unlink()
            suite.run(steps[1:], lanes=2, logs=pathlib.Path(folder), quiet=True)
            self.assertIn("own-run", said.read_text(), "what it waits for is no part of the run")


class Showing(unittest.TestCase):
    def test_a_skip_of_several_groups_is_one_line(self):
        result = Result("python-probe")
        for group in ("python3.8", "python3.9"):
            result.reader.line(f"== {group}\n")
            result.reader.line("test_b (m.C) ... skipped 'no trio (pip install trio)'\n")
        self.assertEqual(
            list(show.skips([result])), ["python-probe: python3.8, python3.9: test_b: no trio (pip install trio)"]
        )


class Often(unittest.TestCase):
    def test_what_differs_or_vanishes_is_told(self):
        runs = {"as-it-is": 2, "busy": 1}
        seen = {
            "a: always": {("as-it-is", PASSED): 2, ("busy", PASSED): 1},
            "a: skipped every time": {("as-it-is", SKIPPED): 2, ("busy", SKIPPED): 1},
            "a: red when busy": {("as-it-is", PASSED): 2, ("busy", FAILED): 1},
            "a: gone once": {("as-it-is", PASSED): 1, ("busy", PASSED): 1},
        }
        differed = often.differing(seen, runs)
        self.assertEqual([line.split(": ")[1] for line in differed], ["gone once", "red when busy"])
        self.assertIn("failed 1 of 1 busy", differed[1])


if __name__ == "__main__":
    unittest.main()
