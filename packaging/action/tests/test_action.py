"""The action's steps, run as a runner would, against a fake GitHub; and the shape of action.yml and of the guide's workflows."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from fake_github import Api, Runner

ROOT = Path(__file__).resolve().parent.parent.parent.parent
TOOL = os.environ["TASKSCALE_COMMAND"]
# A command that says what it was asked, and ends as the test wants it: with STATUS where it compares, else with ALONE.
FAKE = """#!/bin/sh
echo "asked: $*"
case "$*" in *--against*) exit ${STATUS:-0} ;; *) exit ${ALONE:-0} ;; esac
"""


def probe(result="31 * i"):
    """A probe of one way. Other results than the usual one are wrong."""
    text = (ROOT / "examples/probes/my_probe.py").read_text(encoding="utf-8")
    assert "    return 31 * i\n" in text
    return text.replace("    return 31 * i\n", f"    return {result}\n")


class Action(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.api = Api()
        self.addCleanup(self.api.stop)
        self.head = self.folder / "head"
        (self.head / "bench").mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.base = self.commit({"bench/mine.py": probe()})
        self.fake = self.folder / "fake"
        self.fake.write_text(FAKE, encoding="utf-8")
        self.fake.chmod(0o755)
        self.number = 0

    def git(self, *words):
        identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        return subprocess.run(["git", "-C", self.head, *identity, *words], check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, files):
        for name, text in files.items():
            (self.head / name).write_text(text, encoding="utf-8")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "a change")
        return self.git("rev-parse", "HEAD")

    def measure(self, event=None, env=None, **inputs):
        """Runs the step; gives its status, what it printed, and the runner with its files."""
        self.number += 1
        folder = self.folder / f"runner-{self.number}"
        folder.mkdir()
        event = {"pull_request": {"number": 7, "base": {"sha": self.base}}} if event is None else event
        runner = Runner(folder, self.head, self.api, event)
        inputs = {"command": str(self.fake), "probe": "bench/mine.py", "token": "a-token", **inputs}
        asked = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        env = {**os.environ, **runner.env, **asked, "XDG_STATE_HOME": str(self.folder / "state"), **(env or {})}
        step = [sys.executable, str(ROOT / "packaging/action"), "measure"]
        done = subprocess.run(step, env=env, cwd=self.head, capture_output=True, text=True)
        self.assertNotIn("Traceback", done.stderr)
        worktrees = self.git("worktree", "list").splitlines()
        self.assertEqual(len(worktrees), 1, worktrees)
        return done.returncode, done.stdout, runner

    def test_both_sides_are_measured_and_commented_once(self):
        self.commit({"bench/mine.py": probe("i"), "bench/fresh.py": probe()})
        inputs = {
            "command": TOOL,
            "probe": "bench/mine.py\nbench/fresh.py",
            "args": "--size 64 --samples 2 --max-time 6s --sample-time 2ms",
        }
        status, said, runner = self.measure(**inputs)
        # A row that had figures and gives a wrong answer now is a regression on any machine.
        self.assertEqual(status, 1, said + runner.summary())
        self.assertIn("**Regression", runner.summary())
        self.assertIn("New here, and so without comparison: `bench/fresh.py`", runner.summary())
        # Both probes go by the name that they give themselves, and the table has a row of each.
        self.assertIn("All figures, the new ones too", runner.summary())
        self.assertRegex(runner.summary(), r"\| mine\\#2 \| in")
        self.assertEqual(runner.outputs()["verdict"], "worse")
        self.assertTrue(Path(runner.outputs()["run"]).exists())
        self.assertEqual(len(self.api.comments), 1)
        self.assertIn("**Regression", self.api.comments[0]["body"])

    def test_a_comment_is_updated_in_place(self):
        others = [{"id": number, "body": "fine"} for number in range(150)]
        self.api.comments = list(others)
        for args in ("--size 1", "--size 2"):
            self.assertEqual(self.measure(args=args)[0], 0)
        (ours,) = self.api.comments[150:]
        self.assertTrue(ours["body"].startswith("<!-- taskscale: taskscale -->\n## taskscale"), ours)
        self.assertIn("--size 2", ours["body"])
        self.assertEqual(self.measure(title="go")[0], 0)
        self.assertEqual(len(self.api.comments), 152)
        self.assertEqual(self.api.comments[:150], others)

    def test_head_stands_against_base(self):
        status, _, runner = self.measure(suite="nop", args="--param 'a=b c'", threshold="5%")
        self.assertEqual(status, 0)
        asked = runner.summary()
        self.assertIn(f"asked: run nop --param a=b c --probe {self.head}/bench/mine.py --against ", asked)
        self.assertIn("/base/bench/mine.py --threshold 5% --output", asked)
        self.assertEqual(runner.outputs()["verdict"], "not-worse")
        # What is not in the repository is a command of both.
        _, _, runner = self.measure(probe="sh {}/bench/mine.py -x")
        self.assertIn(f"--probe sh {self.head}/bench/mine.py -x --against sh ", runner.summary())

    def test_the_merge_that_is_checked_out_has_the_base(self):
        self.git("checkout", "--quiet", "-b", "topic")
        self.commit({"bench/topic.py": "x"})
        self.git("checkout", "--quiet", "main")
        self.commit({"bench/later.py": "x"})
        self.git("merge", "--quiet", "--no-ff", "topic")
        _, _, runner = self.measure(probe="bench/later.py\nbench/topic.py")
        self.assertIn("/base/bench/later.py", runner.summary())
        self.assertIn("without comparison: `bench/topic.py`", runner.summary())

    def test_a_checkout_of_the_head_alone_is_enough(self):
        self.git("config", "uploadpack.allowAnySHA1InWant", "true")
        self.commit({"bench/mine.py": probe("i")})
        origin, self.head = self.head, self.folder / "shallow"
        subprocess.run(["git", "clone", "--quiet", "--depth=1", f"file://{origin}", self.head], check=True)
        status, _, runner = self.measure()
        self.assertEqual(status, 0)
        self.assertIn("/base/bench/mine.py", runner.summary())

    def test_the_code_that_is_measured_gets_no_token(self):
        self.fake.write_text("#!/bin/sh\nenv\n", encoding="utf-8")
        _, _, runner = self.measure()
        self.assertIn("INPUT_PROBE=bench/mine.py", runner.summary())
        self.assertNotIn("a-token", runner.summary())
        self.assertIn("What blurs figures on this runner", runner.summary())
        self.assertNotIn("What blurs", self.api.comments[0]["body"])

    def test_a_new_benchmark_is_no_failure(self):
        self.commit({"bench/fresh.py": probe()})
        status, _, runner = self.measure(probe="bench/fresh.py")
        self.assertEqual((status, runner.outputs()["verdict"]), (0, "none"))
        self.assertIn("the base has none of these benchmarks", runner.summary())
        self.assertNotIn("--against", runner.summary())

    def test_a_base_that_cannot_be_measured_is_told(self):
        status, said, runner = self.measure(env={"STATUS": "2"})
        self.assertEqual((status, runner.outputs()["verdict"]), (0, "none"))
        self.assertIn("The base could not be measured", runner.summary())
        self.assertIn("::warning", said)
        status, said, _ = self.measure(env={"STATUS": "2", "ALONE": "2"})
        self.assertEqual(status, 2)
        self.assertIn("::error title=taskscale::taskscale run ended with status 2", said)

    def test_a_regression_gates_where_it_shall(self):
        status, _, runner = self.measure(env={"STATUS": "1"})
        self.assertEqual((status, runner.outputs()["verdict"]), (1, "worse"))
        self.assertEqual(len(self.api.comments), 1)
        self.assertEqual(self.measure(env={"STATUS": "1"}, gate="no")[0], 0)

    def test_a_fork_gets_the_summary_alone(self):
        self.api.refuses = ("POST", "PATCH")
        status, said, runner = self.measure()
        self.assertEqual(status, 0)
        self.assertIn("GitHub refused the comment (403 Forbidden)", runner.summary())
        self.assertIn("pull requests from forks do not get it", said)
        self.api.refuses, calls = (), len(self.api.calls)
        self.measure(comment="no")
        self.measure(event={"before": self.base})
        self.assertEqual(len(self.api.calls), calls)

    def test_an_api_that_is_not_there_is_told(self):
        status, _, runner = self.measure(env={"GITHUB_API_URL": "http://127.0.0.1:9"})
        self.assertEqual(status, 0)
        self.assertIn("GitHub refused the comment", runner.summary())

    def test_both_checkouts_are_built(self):
        _, _, runner = self.measure(build="touch bench/built.py", probe="bench/built.py")
        self.assertIn("--against", runner.summary())
        status, said, _ = self.measure(build="exit 3")
        self.assertEqual(status, 2)
        self.assertIn("the input build failed in the head", said)
        self.commit({"bench/fresh.py": probe()})
        status, said, runner = self.measure(build="test -e bench/fresh.py")
        self.assertEqual((status, runner.outputs()["verdict"]), (0, "none"))
        self.assertIn("the input build failed in the base", said)

    def test_wrong_inputs_are_told(self):
        for inputs, words in [
            ({"comment": "perhaps"}, "the input comment is 'perhaps': say yes or no"),
            ({"baseline": "no-such-branch"}, "check out with fetch-depth: 0"),
            ({"baseline": "--help"}, "--help is no commit, branch or tag"),
            ({"command": "/no/such"}, "/no/such cannot be run"),
            ({"args": "'open"}, "the inputs suite and args cannot be read"),
        ]:
            status, said, _ = self.measure(**inputs)
            self.assertEqual(status, 2, inputs)
            self.assertIn(words, said)

    def test_long_texts_are_cut(self):
        self.fake.write_text("#!/bin/sh\nyes 'a row of a table' | head -n 9000\n", encoding="utf-8")
        self.assertEqual(self.measure()[0], 0)
        body = self.api.comments[0]["body"]
        self.assertLessEqual(len(body.encode()), 65_536)
        self.assertTrue(body.endswith("all of it is in the run file."))

    def test_the_source_has_a_hash(self):
        folder = self.folder / "source"
        folder.mkdir()
        runner = Runner(folder, self.head, self.api, {})
        step = [sys.executable, str(ROOT / "packaging/action"), "source"]
        subprocess.run(step, env={**os.environ, **runner.env}, check=True)
        self.assertRegex(runner.outputs()["hash"], "^[0-9a-f]{20}$")
        self.assertTrue(runner.outputs()["folder"].startswith(str(folder)))


class Files(unittest.TestCase):
    def test_inputs_are_handed_on_and_read(self):
        text = (ROOT / "action.yml").read_text(encoding="utf-8")
        inputs = set(re.findall(r"^  (\w+):$", text.partition("inputs:")[2].partition("outputs:")[0], re.M))
        handed = {name.lower(): of for name, of in re.findall(r"INPUT_(\w+): \$\{\{ inputs\.(\w+)", text)}
        self.assertEqual(handed, {name: name for name in inputs})
        code = (ROOT / "packaging/action/measure.py").read_text(encoding="utf-8")
        self.assertEqual({"token", *re.findall(r'(?:given|said)\("(\w+)"\)', code)}, inputs)

    def test_the_guide_names_inputs_that_there_are(self):
        inputs = (ROOT / "action.yml").read_text(encoding="utf-8")
        guide = (ROOT / "docs/guides/ci.md").read_text(encoding="utf-8")
        used = re.findall(r"uses: \S+/taskscale@\S+\n +with:\n((?: {10}.*\n)+)", guide)
        self.assertTrue(used, "the guide shows no use of the action")
        for name in re.findall(r"^ {10}(\w+):", "".join(used), re.M):
            self.assertRegex(inputs, rf"(?m)^  {name}:$")

    def test_the_schemas_of_github_hold(self):
        checker = os.environ.get("CHECK_JSONSCHEMA")
        if not checker:
            self.skipTest("check-jsonschema could not be installed (is there a network?)")
        with tempfile.TemporaryDirectory() as folder:
            guide = (ROOT / "docs/guides/ci.md").read_text(encoding="utf-8")
            flows = [text for text in re.findall(r"```yaml\n(.*?)```", guide, re.S) if text.startswith("name:")]
            self.assertTrue(flows, "the guide shows no workflow")
            for number, text in enumerate(flows):
                (Path(folder) / f"{number}.yml").write_text(text, encoding="utf-8")
            for schema, files in {
                "vendor.github-actions": [ROOT / "action.yml"],
                "vendor.github-workflows": sorted(Path(folder).iterdir()),
            }.items():
                done = subprocess.run([checker, "--builtin-schema", schema, *files], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
