#!/usr/bin/env python3
"""Writes what the targets of what is shown and answered begin with, into fuzz/corpus.

Each form of each value that a target starts from is there, and so are kept lines of run files and
lines of probes. `run_file.dict` and `answer.dict` have the words of the schemas.
"""

import json
import re
from pathlib import Path

FUZZ = Path(__file__).resolve().parent
ROOT = FUZZ.parent
KEPT = ["hand", "threads", "granularity", "jit", "versions", "wide"]
FORMS_OF_SUMMARY, FORMS_OF_RUN, FORMS_OF_DIGEST = 9, 16, 4


def write(target, seeds):
    folder = FUZZ / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (folder / f"seed-{number:03}").write_bytes(seed)


def words(target, schema):
    """The words of a schema as a dictionary."""
    text = (ROOT / "schemas" / schema).read_text()
    found = set()

    def walk(value):
        if isinstance(value, dict):
            found.update(value.get("properties", {}))
            found.update(word for word in value.get("enum", []) if isinstance(word, str))
            found.update([value["const"]] if isinstance(value.get("const"), str) else [])
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                walk(one)

    walk(json.loads(text))
    lines = [f'"\\"{word}\\""\n' for word in sorted(found)]
    (FUZZ / "corpus" / f"{target}.dict").write_text("".join(lines))


def lines_of(name):
    """A runtime, a row, two samples and the end of a kept file, without its header."""
    lines = (ROOT / "crates/analysis/tests/data" / f"{name}.jsonl").read_text().splitlines()[1:]
    of = {}
    for line in lines:
        record = json.loads(line)
        if record.get("row", 0) == 0:
            of.setdefault(record["type"], []).append(line)
    return "".join(f"{line}\n" for some in of.values() for line in some[:2]).encode()


def run_files():
    for form in range(FORMS_OF_RUN):
        for kept in range(len(KEPT)):
            yield bytes([form, kept, 0, 14])
    for number, name in enumerate(KEPT):
        yield bytes([128 + number]) + lines_of(name)


def values(forms, starts):
    for form in range(forms):
        for start in range(starts):
            first = start * 5 + form
            yield bytes([form, start, first % 63 + 64 * (start % 4), first * 7 % 256])


def answers():
    test = (ROOT / "crates/bench/tests/answers.rs").read_text()
    yield from (line.encode() for line in re.findall(r'r#"(.*?)"#', test))
    protocol = (ROOT / "probes/PROTOCOL.md").read_text().splitlines()
    yield from (line.strip().encode() for line in protocol if line.strip().startswith('{"'))


write("run_file", run_files())
write("summary", values(FORMS_OF_SUMMARY, 16 + len(KEPT)))
write("digest", values(FORMS_OF_DIGEST, 16 + 6))
write("answer", answers())
words("run_file", "run.schema.json")
words("answer", "probe-reply.schema.json")
