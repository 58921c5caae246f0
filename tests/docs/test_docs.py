"""The tests of what runs the pages' commands: nothing that a page has is lost, and the rules mean what they say."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import book
import budget
import pages
import rules

PAGE = """\
Text with `taskscale report last --details` and `taskscale run ...`.

```sh
taskscale list   # a comment
taskscale run fanout \\
    --size 64
jq '.a # b' FILE
```

```console
$ taskscale --version
taskscale 0.1.0
```

```
taskscale doctor
```

```text
taskscale doctor
```
"""


class Pages(unittest.TestCase):
    def test_commands_are_found(self):
        found, problems = pages.commands(PAGE)
        self.assertEqual(
            [(command.line, command.text, command.expected, command.inline) for command in found],
            [
                (1, "taskscale report last --details", None, True),
                (4, "taskscale list", None, False),
                (5, "taskscale run fanout --size 64", None, False),
                (7, "jq '.a # b' FILE", None, False),
                (11, "taskscale --version", ["taskscale 0.1.0"], False),
            ],
        )
        self.assertEqual([line for line, _ in problems], [16])

    def test_commands_of_tables_are_run_where_they_are_to_be(self):
        row = "| words | `taskscale list`; `--details` |"
        self.assertEqual([command.inline for command in pages.commands(row)[0]], [True])
        self.assertEqual([command.inline for command in pages.commands(row, tables=True)[0]], [False])
        self.assertEqual([command.inline for command in pages.commands("Say `taskscale list`.", tables=True)[0]], [True])

    def test_a_torn_command_is_told(self):
        self.assertEqual(len(pages.commands("```sh\ntaskscale \\\n```\n")[1]), 1)
        self.assertEqual(len(pages.commands("```console\nno command\n```\n")[1]), 1)

    def test_output_is_held_to_the_page(self):
        printed = "one 17\ntwo [x]\nthree\nfour\n"
        for same in (["one [..]", "two [x]", "three", "four"], ["one 17", "...", "four"], ["..."], ["one 17", "..."]):
            self.assertIsNone(pages.difference(same, printed), same)
        for other in (["one 18", "..."], ["one 17"], ["...", "five"], ["one 17", "two x", "..."], []):
            self.assertTrue(pages.difference(other, printed), other)


class Rules(unittest.TestCase):
    def test_what_measures_is_kept_short(self):
        limits = ["--samples", "4", "--sample-time", "200us", "--max-time", "6s", "--timeout", "120s"]
        self.assertEqual(budget.short(["run", "fanout", "--max-time", "180s", "--quick"]), ["run", "fanout", *limits, *budget.RUNTIMES])
        self.assertEqual(budget.short(["run", "--runtime", "go", "--samples=9"]), ["run", "--runtime", "go", *limits])
        self.assertEqual(budget.short(["run", "nop", "--runtime", "go"]), ["run", "nop", "--runtime", "go", *limits, "--size", "100000"])
        self.assertEqual(budget.short(["run", "nop", "--size=9", "--runtime", "go"]), ["run", "nop", "--size=9", "--runtime", "go", *limits])
        for passed_on in (["report", "last"], ["run", "--max-time", "9s", "--help"], []):
            self.assertEqual(budget.short(passed_on), passed_on)

    def test_a_command_for_which_6_s_are_too_short_runs_once_more(self):
        script = 'echo "$@" >> {log}; echo "no time was left\n  for its first round"; case "$*" in *{enough}*) exit 0;; esac; exit 2'
        all_times = ["6s", *budget.LONGER]
        for end, enough, asked in ((0, " 6s", ["6s"]), (0, "30s", ["6s", "30s"]), (0, "120s --t", all_times), (2, "never", all_times)):
            with tempfile.TemporaryDirectory() as folder:
                log, tool = Path(folder) / "log", Path(folder) / "tool"
                tool.write_text("#!/bin/sh\n" + script.format(log=log, enough=enough.replace(" ", "\\ ")))
                tool.chmod(0o755)
                run = [sys.executable, budget.__file__, "run", "interp", "--runtime", "go"]
                done = subprocess.run(run, env={**os.environ, "TASKSCALE_TOOL": str(tool)}, capture_output=True, check=False)
                self.assertEqual(done.returncode, end)
                times = [line.split("--max-time ")[1].split()[0] for line in log.read_text().splitlines()]
                self.assertEqual(times, asked)

    def test_a_rule_is_found_by_page_and_command(self):
        self.assertIn("tests/run/readme", rules.not_run("README.md", "cargo run --release -- run").why)
        self.assertIsNone(rules.not_run("docs/guides/ci.md", "taskscale list"))
        self.assertIsNone(rules.not_run("docs/guides/ci.md", "cargo run --release -- run"))


class Book(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/SUMMARY.md", "[A](a.md)\n- [B](b/b.md)\n- [W](whole/w.md)\n")
        self.write("docs/a.md", "# A `b` and [c](b/b.md)!\n[words\nover lines](b/b.md#two-words-1) [x](#a-b-and-c)\n```\n[no](link)\n```\n")
        self.write("docs/b/b.md", "# Two words\n## Two words\n")
        self.write("docs/whole/w.md", "{{#include ../../W.md}}\n")
        self.write("W.md", "# W\n")
        self.pages = ["docs/a.md", "docs/b/b.md", "W.md"]

    def write(self, name, text):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")

    def test_a_good_book_has_no_problems(self):
        self.assertEqual(book.contents(self.root / "docs"), [])
        self.assertEqual(book.links(self.root, self.pages), [])

    def test_pages_that_are_not_there_or_not_listed_are_told(self):
        self.write("docs/SUMMARY.md", "[A](a.md)\n- [A](a.md)\n- [N](none.md)\n")
        self.write("docs/whole/w.md", "{{#include ../../none.md}}\n")
        self.assertEqual(len(book.contents(self.root / "docs")), 5)

    def test_links_and_anchors_that_lead_nowhere_are_told(self):
        self.write("W.md", "[a](docs/none.md)\n\n[b\nb](docs/a.md#none) [c](https://example.org/none)")
        told = [problem.split(" ")[0] for problem in book.links(self.root, self.pages)]
        self.assertEqual(told, ["W.md:1:", "W.md:3:"])

    def test_a_built_page_with_a_dead_link_is_told(self):
        self.write("book/a.html", '<h1 id="a">A</h1><a href="b.html#b">b</a><a href="#a">a</a>')
        self.write("book/b.html", '<h1 id="b">B</h1>')
        self.assertEqual(book.built(self.root / "book"), [])
        self.write("book/b.html", '<h1 id="c">B</h1><img src="none.svg">')
        self.assertEqual(len(book.built(self.root / "book")), 2)

    def test_links_out_of_the_book_are_mended(self):
        sys.path.insert(0, str(book.ROOT / "docs"))
        import outside

        chapters = outside.included()
        self.assertTrue(chapters)
        for chapter, text, mended in (
            ("start.md", "[words](../METHODOLOGY.md#a)", "[words](whole/methodology.md#a)"),
            ("start.md", "[the\nword](evidence/README.md) [x](#a)", "[the\nword](evidence/index.md) [x](#a)"),
            ("start.md", "[words](../Cargo.toml), [`Cargo.toml`](../Cargo.toml)", "words (`Cargo.toml`), `Cargo.toml`"),
            ("whole/methodology.md", "[a](docs/start.md) [b](GLOSSARY.md)", "[a](../start.md) [b](glossary.md)"),
            ("start.md", "```\n[words](../METHODOLOGY.md)\n```", "```\n[words](../METHODOLOGY.md)\n```"),
        ):
            self.assertEqual(outside.mend(text, chapter, chapters), mended)


if __name__ == "__main__":
    unittest.main()
