"""From what test tools print to outcomes: one reader for cargo, unittest, `go test -json`, TAP, and our own scripts.

| tool | lines |
|---|---|
| cargo test | `Running tests/a.rs (...)`, `test name ... ok`, and at the end `test result: ok. 3 passed; ...` |
| python -m unittest -v | `test_a (module.Class) ... skipped 'why'`, and at the end `Ran 3 tests in 0.1s` |
| go test -json | an object a line |
| node --test-reporter=tap | `ok 1 - name # SKIP why` |
| scripts | `== group`, `ok: name`, `FAILED: name: why`, `skipped: name: reason (remedy)` |

A tool's own count is held against what was read: a line that was missed is a failure and not a silence.
"""

import json
import re
from dataclasses import dataclass, field

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"

GROUP = re.compile(r"^== (.+)$|^\s+Running (?:unittests )?(\S+) \((?:.*/)?([^/]+?)(?:-[0-9a-f]{16})?\)$|^\s+Doc-tests (\S+)$")
VERDICT = re.compile(r"^(?:test )?(\S.*?) \.\.\. (ok|FAILED|FAIL|ERROR|expected failure|ignored.*|skipped .*)$")
# A test that printed something behind its name: the verdict comes in a line of its own.
BEGUN = re.compile(r"^test (\S+) \.\.\. (?!ok$|FAILED$|ignored)|^(\w+ \([\w.]+\)) \.\.\. ")
LATER = re.compile(r"^(ok|FAILED|FAIL|ERROR|skipped '.*')$")
TAP = re.compile(r"^\s*(not )?ok \d+ - (.*?)(?: # (SKIP|TODO)\s*(.*))?$")
SAID = re.compile(r"^\s*(ok|FAILED|skipped): (.+)$")
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
RAN = re.compile(r"^Ran (\d+) tests? in ")
# Where cargo and unittest show what a test said.
OUTPUT_OF = re.compile(r"^---- (.+) stdout ----$|^(?:FAIL|ERROR): (.+)$")
# What a compiler says that is no error.
WARNING = re.compile(r"^(?:.*: )?warning: (?!unused manifest key)(?!.* generated \d+ warning)")
# Lines of it that are kept.
SHOWN = 100


@dataclass
class Outcome:
    """How a test ended; `why` is the reason of a skip, with its remedy."""

    name: str
    status: str
    why: str = ""


@dataclass
class Reader:
    """Reads line by line; `outcomes` are those so far, by their names within the step."""

    outcomes: dict = field(default_factory=dict)
    group: str = ""
    warnings: int = 0
    # The test whose output is being shown: what it says there of a skip is about itself.
    _speaks: str = ""
    _begun: str = ""
    _count: int = 0
    _go: dict = field(default_factory=dict)

    def line(self, line):
        line = line.rstrip("\n")
        if line.startswith('{"') and '"Action":' in line:
            return self._of_go(line)
        group = GROUP.match(line)
        if group:
            said, source, binary, docs = group.groups()
            self.group = said or (f"{docs} docs" if docs else binary_name(source, binary))
            self._speaks, self._count = "", 0
            return None
        if RESULT.match(line) or RAN.match(line):
            return self._check(line)
        said = SAID.match(line)
        if said and not VERDICT.match(line):
            return self._of_script(*said.groups())
        verdict = VERDICT.match(line)
        if verdict and " ... " not in verdict.group(1):
            self._count += 1
            return self._of_verdict(*verdict.groups())
        begun = BEGUN.match(line)
        if begun:
            self._begun = begun.group(1) or begun.group(2)
            return None
        later = LATER.match(line)
        if later and self._begun:
            self._count += 1
            name, self._begun = self._begun, ""
            return self._of_verdict(name, later.group(1))
        tap = TAP.match(line)
        if tap:
            failed, name, directive, why = tap.groups()
            status = SKIPPED if directive == "SKIP" else FAILED if failed else PASSED
            self._add(name, status, why or "")
            # What follows in a block says why.
            self._speaks = self._named(name) if status == FAILED else ""
            return None
        if line in ("failures:", "successes:"):
            self._speaks = ""
        if WARNING.match(line):
            self.warnings += 1
        output_of = OUTPUT_OF.match(line)
        if output_of:
            self._speaks = self._named(output_of.group(1) or output_of.group(2))
            if self._speaks not in self.outcomes:
                # A class or a module that could not be set up has no line of its own.
                self._add(output_of.group(1) or output_of.group(2), FAILED)
            return None
        speaker = self.outcomes.get(self._speaks)
        if speaker and speaker.status == FAILED and speaker.why.count("\n") < SHOWN:
            speaker.why += line + "\n"
        return None

    def _named(self, name):
        return f"{self.group}: {name}" if self.group else name

    def _add(self, name, status, why=""):
        name = self._named(name)
        key, number = name, 2
        while key in self.outcomes:
            key, number = f"{name} ({number})", number + 1
        self.outcomes[key] = Outcome(key, status, why)

    def _of_verdict(self, name, verdict):
        if verdict in ("ok", "expected failure"):
            return self._add(name, PASSED)
        if verdict.startswith(("ignored", "skipped")):
            why = verdict.partition(" ")[2].strip("' \"") or "it is marked to be ignored"
            return self._add(name, SKIPPED, why)
        return self._add(name, FAILED)

    def _of_script(self, word, text):
        name, _, why = text.partition(": ")
        if word == "skipped" and self._speaks in self.outcomes:
            # It has passed by its tool's account.
            self.outcomes[self._speaks] = Outcome(self._speaks, SKIPPED, text)
            return None
        if word == "skipped":
            return self._add(name, SKIPPED, why)
        return self._add(name, FAILED if word == "FAILED" else PASSED, why)

    def _of_go(self, line):
        try:
            event = json.loads(line)
        except ValueError:
            return None
        name = f"{event.get('Package', '')} {event.get('Test', '')}".strip()
        action = event.get("Action")
        if action == "output":
            self._go[name] = self._go.get(name, "") + event.get("Output", "")
            # `go vet` and the compiler speak here too.
            return None
        if "Test" not in event:
            if action == "fail" and not any(
                outcome.status == FAILED and outcome.name.startswith(name) for outcome in self.outcomes.values()
            ):
                self._add(name, FAILED, self._go.get(name, ""))
            return None
        if action == "skip":
            self._add(name, SKIPPED, " ".join(self._go.get(name, "").split("\n")[1:2]).strip())
        elif action in ("pass", "fail"):
            self._add(name, PASSED if action == "pass" else FAILED, self._go.get(name, "") if action == "fail" else "")
        return None

    def _check(self, line):
        numbers = [int(number) for number in (RESULT.match(line) or RAN.match(line)).groups()]
        if sum(numbers) != self._count:
            self._add("the reader of this output", FAILED, f"{self._count} tests were read, and the tool says: {line}")
        self._count = 0


def binary_name(source, binary):
    """`bench/tests/order`: the crate, where the path says it, and the file."""
    path = source.replace(".rs", "").replace("/main", "").replace("src/lib", "lib")
    return f"{binary} {path}" if binary not in path else path
