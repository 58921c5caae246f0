"""``taskscale.load``: what the tool really writes becomes tables, and what it does not write is refused by name and line."""

import json
import subprocess
import sys
import tempfile
import unittest
import zlib
from pathlib import Path
from unittest import mock

import taskscale

try:
    import pandas
except ImportError:
    pandas = None

REPOSITORY = Path(__file__).resolve().parent.parent.parent
RUNS = REPOSITORY / "crates" / "analysis" / "tests" / "data"
TRACES = REPOSITORY / "crates" / "cli" / "tests" / "traces"
# The wheel brings it along.
TOOL = Path(sys.executable).parent / "taskscale"
SHORT = ["--samples", "4", "--sample-time", "200us", "--max-time", "600s", "--timeout", "600s"]


def line_of(record):
    """The line of a record, with its check."""
    text = json.dumps({name: record[name] for name in record if name != "crc32"}, separators=(",", ":"))[:-1]
    return f'{text},"crc32":"{zlib.crc32(text.encode()):08x}"}}'


def tool(*arguments):
    """What the tool prints; 1 is its status where a comparison finds a regression."""
    done = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode > 1:
        raise AssertionError(done)
    return done.stdout


@unittest.skipIf(pandas is None, "pandas is not installed (pip install './python[pandas]')")
class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.run_file = cls.folder / "a.taskscale.jsonl"
        arguments = ["--runtime", "asyncio", "--variant", "gather", "--size", "64", "--size", "128", "--counts"]
        cls.summary = cls.written("summary.json", tool("run", "fanout", *arguments, *SHORT, "-o", cls.run_file, "--format", "json"))

    @classmethod
    def written(cls, name, text):
        path = cls.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def refused(self, text, *words):
        path = self.written("bad", text)
        with self.assertRaises(taskscale.LoadError) as caught:
            taskscale.load(path)
        for word in (str(path), *words):
            self.assertIn(word, str(caught.exception))

    def test_a_run(self):
        run = taskscale.load(self.run_file)
        lines = [json.loads(line) for line in self.run_file.read_text().splitlines()]
        self.assertEqual((run.kind, run.schema, run.facts["complete"]), ("run", "taskscale.run/1", True))
        for kind, table in [("sample", "samples"), ("row", "rows"), ("row_end", "row_ends"), ("count", "counts")]:
            self.assertEqual(len(run[table]), sum(line["type"] == kind for line in lines), table)
        first = next(line for line in lines if line["type"] == "sample" and line["kind"] == "timed")
        mine = run.samples[run.samples.order == first["order"]].iloc[0]
        self.assertEqual(mine.cpu_ns, first["cpu_ns"])
        self.assertAlmostEqual(mine.cpu_ns_per_task, first["cpu_ns"] / first["iterations"] / first["size"])
        self.assertEqual(mine.answer, first["answer"])
        self.assertEqual(run.samples.attrs["units"]["cpu_ns"], "ns")
        self.assertIn("samples", repr(run))

    def test_a_missing_value_is_na_with_its_reason_beside_it(self):
        lines = self.run_file.read_text().splitlines()
        sample = next(at for at, line in enumerate(lines) if '"type":"sample"' in line)
        record = {**json.loads(lines[sample]), "threads": {"reason": "no /proc", "remedy": "mount it"}}
        lines[sample] = line_of(record)
        run = taskscale.load(self.written("missing.jsonl", "\n".join(lines) + "\n"))
        row = run.samples[run.samples.order == record["order"]].iloc[0]
        self.assertIs(row.threads_ran, pandas.NA)
        self.assertEqual((row.threads_reason, row.threads_remedy), ("no /proc", "mount it"))

    def test_numbers_past_63_bits_stay_whole(self):
        lines = self.run_file.read_text().splitlines()
        at = next(at for at, line in enumerate(lines) if '"type":"sample"' in line)
        lines[at] = line_of({**json.loads(lines[at]), "answer": 2**64 - 1})
        run = taskscale.load(self.written("large.jsonl", "\n".join(lines) + "\n"))
        self.assertIn(2**64 - 1, [int(answer) for answer in run.samples.answer])

    def test_a_summary(self):
        summary = taskscale.load(self.summary)
        data = json.loads(self.summary.read_text())
        self.assertEqual(len(summary.figures), len(data["rows"]))
        self.assertEqual(list(summary.figures.p50.dropna()), [row["p50"] for row in data["rows"] if row["p50"] is not None])
        self.assertEqual(len(summary.growth), len(data["growth"]))
        self.assertTrue(summary.facts["machine"]["fingerprint"])
        # Rows that were not measured have a reason, and NA for figures.
        killed = taskscale.load(self.written("wide.json", tool("report", RUNS / "quick.jsonl", "--format", "json")))
        without = killed.figures[killed.figures.status != "ok"]
        self.assertGreater(len(without), 0)
        self.assertTrue(without.p50.isna().all() and without.reason.notna().all())

    def test_sweeps(self):
        sweep = taskscale.load(self.written("g.json", tool("report", RUNS / "granularity.jsonl", "--format", "json")))
        self.assertGreater(len(sweep.points), 0)
        self.assertEqual(set(sweep.metg.efficiency), {0.5, 0.9, 0.95})

    def test_a_comparison(self):
        text = tool("compare", RUNS / "compare" / "old.jsonl", RUNS / "compare" / "new.jsonl", "--format", "json")
        comparison, data = taskscale.load(self.written("c.json", text)), json.loads(text)
        self.assertEqual(list(comparison.verdicts.verdict), [row["verdict"] for row in data["rows"]])
        unknown = comparison.verdicts[comparison.verdicts.verdict == "cannot_tell"]
        self.assertTrue(unknown.reason.notna().all())
        self.assertTrue(comparison.facts["regression"])

    def test_digests(self):
        for trace in sorted(TRACES.glob("*.json")):
            text = tool("digest", trace, "--format", "json")
            digest, data = taskscale.load(self.written("d.json", text)), json.loads(text)
            self.assertAlmostEqual(digest.losses.share.sum(), 1, 6)
            self.assertEqual(list(digest.names.total_ns), [name["total_ns"] for name in data["names"]["top"]])
            self.assertEqual(digest.facts["diagnosis"], data["patterns"][0]["name"])
            delay = digest.quantiles.set_index("of").loc["queue delay"]
            self.assertEqual(pandas.isna(delay["p50"]), "reason" in data["queue"])
            self.assertEqual(pandas.isna(delay["reason"]), "reason" not in data["queue"])

    def test_a_checkup(self):
        text = tool("doctor", "--format", "json")
        self.assertEqual(len(taskscale.load(self.written("doctor.json", text)).checks), len(json.loads(text)["findings"]))

    def test_a_killed_run_is_read_up_to_there(self):
        whole = self.run_file.read_bytes()
        sample = whole.rindex(b'"type":"sample"')
        for cut in (sample, sample + 30, len(whole) - 5):
            run = taskscale.load(self.written("killed.jsonl", whole[:cut]))
            self.assertFalse(run.facts["complete"])
            self.assertIn("cut short", run.notes[0])
        run = taskscale.load(self.written("killed.jsonl", whole[: whole.rindex(b"\n", 0, sample) + 1]))
        self.assertEqual((run.facts["complete"], run.notes), (False, []))

    def test_what_a_later_version_adds_is_counted_or_kept(self):
        text = self.run_file.read_text() + line_of({"type": "weather", "rain": True}) + "\n"
        self.assertIn("1 records are of types", taskscale.load(self.written("later.jsonl", text)).notes[0])

    def test_damage_in_a_run_is_named_with_its_line(self):
        lines = self.run_file.read_text().splitlines()
        at = next(at for at, line in enumerate(lines) if '"type":"sample"' in line)
        record = json.loads(lines[at])

        def damaged(line):
            return "\n".join([*lines[:at], line, *lines[at + 1 :]]) + "\n"

        where = f":{at + 1}: "
        self.refused(damaged("{"), where, "damaged")
        self.refused(damaged("[1]"), where, "no record")
        self.refused(damaged(line_of({**record, "wall_ns": "long"})), where, 'wall_ns of the sample is "long"')
        self.refused(damaged(line_of({**record, "size": True})), where, "size")
        self.refused(damaged(line_of({name: record[name] for name in record if name != "cpu_ns"})), where, "cpu_ns")
        self.refused(damaged(line_of({**record, "cpu_ns": float("nan")})), where, "NaN")
        self.refused(damaged("[" * 100_000), where)
        self.refused(damaged(lines[0]), where, "second header")
        self.refused(damaged('{"type":"sample","x":"' + "x" * (2 << 20) + '"}'), where, "longer than")
        self.refused("\n".join([*lines[:at], "x"]).encode() + b"\xff\n", where, "utf-8")
        self.refused(lines[0].replace("taskscale.run/1", "taskscale.run/9") + "\n", ":1:", "taskscale.run/9")

    def test_a_changed_digit_and_a_repeated_sample_are_refused(self):
        lines = self.run_file.read_text().splitlines()
        at = next(at for at, line in enumerate(lines) if '"kind":"timed"' in line)
        record = json.loads(lines[at])
        changed = lines[at].replace(f'"wall_ns":{record["wall_ns"]}', f'"wall_ns":{record["wall_ns"] + 1}')
        where = f":{at + 1}: "
        self.refused("\n".join([*lines[:at], changed, *lines[at + 1 :]]) + "\n", where, "its check does not fit", "--salvage")
        without = json.dumps({name: record[name] for name in record if name != "crc32"})
        self.refused("\n".join([*lines[:at], without, *lines[at + 1 :]]) + "\n", where, "no check, and others have")
        self.refused("\n".join([*lines[: at + 1], lines[at]]) + "\n", f":{at + 2}: ", f"repeats the sample of line {at + 1}")
        again = line_of({**record, "order": 10**6})
        self.refused("\n".join([*lines, again]) + "\n", f"repeats the sample of line {at + 1}")

    def test_lines_that_are_missing_or_double_are_refused_by_their_kind(self):
        lines = self.run_file.read_text().splitlines()
        salvage = "lines of the file were removed or doubled"
        words = {"runtime": "runtime", "row": "row", "sample": "measurement", "count": "count", "row_end": "end"}
        for kind, word in words.items():
            at = [at for at, line in enumerate(lines) if f'"type":"{kind}"' in line]
            before, behind = lines[: at[0]], lines[at[0] + 1 :]
            self.refused("\n".join(before + behind) + "\n", salvage, f" {word}", f", {len(at) - 1} ", "--salvage")
            if kind != "sample":
                twice = before + [lines[at[0]]] * 2 + behind
                self.refused("\n".join(twice) + "\n", salvage, f" {word}", f", {len(at) + 1} are here")
        self.refused("\n".join([*lines, lines[-1]]) + "\n", "a second end")
        # A file of an earlier version has no numbers, and what is missing is a note.
        quick = (RUNS / "quick.jsonl").read_text().splitlines()
        at = [at for at, line in enumerate(quick) if '"type":"sample"' in line]
        notes = taskscale.load(self.written("old.jsonl", "\n".join(quick[: at[4]] + quick[at[4] + 1 :]) + "\n")).notes
        self.assertIn("1 measurement is missing, the first before measurement 5", notes[-1])
        quick[at[4]], quick[at[5]] = quick[at[5]], quick[at[4]]
        notes = taskscale.load(self.written("old.jsonl", "\n".join(quick) + "\n")).notes
        self.assertIn("measurement 4 stands behind measurement 5", notes[-1])

    def test_a_file_without_checks_is_read_with_a_note(self):
        run = taskscale.load(RUNS / "quick.jsonl")
        self.assertEqual(len(run.notes), 1)
        self.assertIn("no checks", run.notes[0])
        self.assertEqual(taskscale.load(self.run_file).notes, [])

    def test_a_document_that_is_none_of_the_tools_is_refused(self):
        summary = self.summary.read_text()
        self.refused("", "empty")
        self.refused("\n", "empty")
        self.refused(b"\x1f\x8b\x08\x00", "packed")
        self.refused("[" * 100_000, "nested too deeply")
        self.refused("{}", "schema is None")
        self.refused("[1, 2]", "schema is None")
        self.refused('{"schema": ["taskscale.digest/1"]}', "schema is")
        self.refused(summary[: len(summary) // 2], f":{summary[: len(summary) // 2].count(chr(10)) + 1}: ")
        self.refused(summary.replace("taskscale.summary/1", "taskscale.summary/7"), ":1:", "summary/7")
        self.refused(summary.encode().replace(b'"seed"', b'"s\xffed"', 1), "not UTF-8")
        for schema in ("summary", "compare", "digest", "doctor"):
            self.refused(json.dumps({"schema": f"taskscale.{schema}/1"}), "not a whole")
        self.refused(json.dumps({**json.loads(summary), "rows": 7}), "not a whole")
        self.refused(json.dumps({**json.loads(summary), "rows": ["x"]}), "not a whole")
        with self.assertRaises(FileNotFoundError):
            taskscale.load(self.folder / "nothing")
        with self.assertRaises(IsADirectoryError):
            taskscale.load(self.folder)

    def test_a_table_that_is_not_there_is_named(self):
        run = taskscale.load(self.run_file)
        with self.assertRaisesRegex(KeyError, "has no table 'growth'; it has runtimes, rows, samples"):
            run["growth"]
        with self.assertRaisesRegex(AttributeError, "no table is named 'growth'"):
            run.growth


class WithoutPandas(unittest.TestCase):
    def test_what_to_install_is_said(self):
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, r"pip install '\./python\[pandas\]'"):
                taskscale.load(RUNS / "quick.jsonl")


if __name__ == "__main__":
    unittest.main()
