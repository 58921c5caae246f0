"""Reads what the tool writes into tables of pandas."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Callable, NoReturn

from . import _tables

if TYPE_CHECKING:
    import pandas

# As the tool itself: the longest real line of a run file, its header, has some ten thousand bytes.
MAX_LINE = 1 << 20
# A digest has less than 100 kB, and a summary of 1,000 rows 3 MB.
MAX_DOCUMENT = 256 << 20


class LoadError(ValueError):
    """A file is not what the tool writes. The text names the file and, where there is one, the line."""


@dataclass(frozen=True)
class Loaded:
    """A file of the tool as named tables: ``loaded["samples"]`` or ``loaded.samples``.

    Each table has the units of its columns in ``table.attrs["units"]``. A value that is missing is ``NA``, and why stands
    in the column ``<name>_reason`` beside it, where the file says so.
    """

    path: str
    #: ``run``, ``summary``, ``compare``, ``digest`` or ``doctor``.
    kind: str
    #: The schema and its number: ``taskscale.run/1``.
    schema: str
    #: What the file says once: the machine, the seed, the command, the diagnosis, ...
    facts: dict[str, Any]
    frames: dict[str, "pandas.DataFrame"] = field(repr=False)
    #: What a reader must know before trusting a figure.
    notes: list[str]

    def __getitem__(self, name: str) -> "pandas.DataFrame":
        if name not in self.frames:
            raise KeyError(f"{self.path} is a {self.kind} and has no table {name!r}; it has {', '.join(self.frames)}")
        return self.frames[name]

    def __getattr__(self, name: str) -> "pandas.DataFrame":
        frames: dict[str, pandas.DataFrame] = self.__dict__.get("frames", {})
        if name not in frames:
            raise AttributeError(f"no attribute and no table is named {name!r}; tables: {', '.join(frames)}")
        return frames[name]

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} {len(frame)} x {len(frame.columns)}" for name, frame in self.frames.items())
        return f"<taskscale.load: {self.kind} {self.path}: {tables}>"


def load(path: str | os.PathLike[str]) -> Loaded:
    """Reads a run file, or the JSON of a summary, comparison, digest or checkup, into tables of pandas.

    >>> run = taskscale.load("run.taskscale.jsonl")                       # doctest: +SKIP
    >>> run.samples.query("kind == 'timed'").groupby("variant").cpu_ns_per_task.median()  # doctest: +SKIP

    The tables of a run are ``runtimes``, ``rows``, ``samples``, ``rounds``, ``counts`` and ``row_ends``. A run that was
    killed is read up to there, and ``facts["complete"]`` is false.

    Raises ``LoadError`` where the file is not what the tool writes, ``OSError`` where it cannot be read, and
    ``ImportError`` where pandas is not installed.
    """
    _pandas()
    name = os.fspath(path)
    with open(name, "rb") as file:
        first = file.readline(MAX_LINE + 1)
        if first.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
            raise LoadError(f"{name}: it is packed; unpack it first (gzip -d, zstd -d)")
        if not first.strip() and not file.peek(1):
            raise LoadError(f"{name}: the file is empty; take the run again")
        header = _header(first)
        if header is not None:
            return _run(name, first, header, file)
        document = first + file.read(MAX_DOCUMENT - len(first) + 1)
    if len(document) > MAX_DOCUMENT:
        raise LoadError(f"{name}: it is larger than {MAX_DOCUMENT >> 20} MiB, which no file of the tool is")
    return _document(name, document)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError("taskscale.load needs pandas: pip install './python[pandas]' in a checkout") from error
    return pandas


def _parse(text: bytes) -> Any:
    def constant(word: str) -> NoReturn:
        raise ValueError(f"{word} is no JSON")

    try:
        return json.loads(text.decode("utf-8"), parse_constant=constant)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _header(line: bytes) -> dict[str, Any] | None:
    """The header of a run file, if this line is one."""
    if not line.endswith(b"\n"):
        return None
    try:
        record = _parse(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) and record.get("type") == "header" else None


def _run(name: str, first: bytes, header: dict[str, Any], file: IO[bytes]) -> Loaded:
    schema = header.get("schema")
    if schema != "taskscale.run/1":
        raise LoadError(f"{name}:1: the schema is {schema!r}; this version reads 'taskscale.run/1'")
    records: dict[str, list[dict[str, Any]]] = {table: [] for table in _tables.RECORDS.values()}
    notes: list[str] = []
    ended: dict[str, Any] | None = None
    skipped = 0
    number = 1
    checked = _check(f"{name}:1", first, header)
    if not checked:
        notes.append("the lines have no checks, as in files of earlier versions: a changed digit would not be found")
    taken: dict[tuple[object, ...], int] = {}
    measured: list[int] = []
    while line := file.readline(MAX_LINE + 1):
        number += 1
        where = f"{name}:{number}"
        if len(line) > MAX_LINE:
            raise LoadError(f"{where}: longer than {MAX_LINE} bytes; this is no run file, or it is damaged")
        if not line.strip():
            continue
        try:
            record = _parse(line)
        except ValueError as error:
            if not line.endswith(b"\n"):
                notes.append(f"line {number}, the last one, was cut short by a kill and is left out")
                break
            raise LoadError(f"{where}: damaged: {error}; remove the line, or take the run again") from None
        if not isinstance(record, dict) or not isinstance(record.get("type"), str):
            raise LoadError(f"{where}: no record: an object with a type is expected")
        if _check(where, line, record) is not checked:
            has = "no check, and others have" if checked else "a check, and the first line has none"
            raise LoadError(f"{where}: damaged: it has {has}; taskscale report --salvage reads around it")
        kind = record.pop("type")
        if kind == "sample":
            _once(where, number, record, taken)
        if kind == "end":
            if ended is not None:
                raise LoadError(f"{where}: a second end; a run has one")
            ended = record
        elif kind in _tables.RECORDS:
            records[_tables.RECORDS[kind]].append(_checked(where, kind, record))
            if kind in ("sample", "count") and isinstance(record.get("order"), int):
                measured.append(record["order"])
        elif kind == "header":
            raise LoadError(f"{where}: a second header; a file holds one run")
        else:
            skipped += 1
    differing, altered = _differing(records, (ended or {}).get("records")), _gap(measured)
    if differing:
        raise LoadError(
            f"{name}: lines of the file were removed or doubled: {'; '.join(filter(None, [*differing, altered]))}; "
            "taskscale report --salvage reads what is here"
        )
    if altered and not skipped:
        notes.append(altered)
    if skipped:
        notes.append(f"{skipped} records are of types that this version does not know")
    facts = {key: value for key, value in header.items() if key not in ("type", "schema")}
    facts.update(complete=ended is not None, elapsed_s=(ended or {}).get("elapsed_s"))
    frames = {table: _tables.frame(_pandas(), table, rows) for table, rows in records.items()}
    return Loaded(name, "run", schema, facts, frames, notes)


def _check(where: str, line: bytes, record: dict[str, Any]) -> bool:
    """Holds a line to its check, which is taken out of the record. Whether it has one."""
    if record.pop("crc32", None) is None:
        return False
    before, found, check = line.strip().rpartition(b',"crc32":"')
    if not found or check != b'%08x"}' % zlib.crc32(before.removeprefix(b"\xef\xbb\xbf")):
        raise LoadError(f"{where}: damaged: its check does not fit; taskscale report --salvage reads around it")
    return True


def _once(where: str, number: int, sample: dict[str, Any], taken: dict[tuple[object, ...], int]) -> None:
    """Refuses a sample that the file has already."""
    kind, row, round_ = sample.get("kind"), sample.get("row"), sample.get("round")
    places: list[tuple[object, ...]] = [("order", sample.get("order"))]
    if kind in ("timed", "phases"):
        places.append((kind, row, round_))
    for place in places:
        if place in taken:
            raise LoadError(f"{where}: damaged: it repeats the sample of line {taken[place]} (row {row}, round {round_})")
        taken[place] = number


def _differing(records: dict[str, list[dict[str, Any]]], written: Any) -> list[str]:
    """Of which records there are more or fewer than the last line says. An earlier version says nothing."""
    if not isinstance(written, dict):
        return []
    told = []
    for kind, (one, many) in _tables.WORDS.items():
        said, here = written.get(kind, 0), len(records[_tables.RECORDS[kind]])
        if said != here:
            are = "is" if here == 1 else "are"
            told.append(f"the run says {said} {one if said == 1 else many}, {here} {are} here")
    return told


def _gap(measured: list[int]) -> str | None:
    """What is missing among the orders of measurements, or not in its place. A run counts on from 0."""
    for before, order in zip(measured, measured[1:]):
        if order < before:
            return f"lines of the file were moved: measurement {order} stands behind measurement {before}"
    expected = 0
    for order in measured:
        if order != expected:
            missing = max(measured[-1] + 1 - len(measured), 0)
            were = "1 measurement is" if missing == 1 else f"{missing} measurements are"
            return f"lines of the file were removed: {were} missing, the first before measurement {order}"
        expected = order + 1
    return None


def _checked(where: str, kind: str, record: dict[str, Any]) -> dict[str, Any]:
    for key, wanted in _tables.NEEDED.get(kind, {}).items():
        if key not in record:
            raise LoadError(f"{where}: damaged: the {kind} has no {key}; remove the line, or take the run again")
        value = record[key]
        if not isinstance(value, wanted) or isinstance(value, bool) is not (wanted is bool):
            raise LoadError(f"{where}: damaged: {key} of the {kind} is {json.dumps(value)[:80]}")
    return record


def _document(name: str, text: bytes) -> Loaded:
    expected = "a run file, or what --format json of report, compare, digest or doctor prints, is expected"
    try:
        document = _parse(text)
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise LoadError(f"{name}:{line}: not UTF-8; {expected}") from None
    except json.JSONDecodeError as error:
        raise LoadError(f"{name}:{error.lineno}: no JSON: {error.msg}; {expected}") from None
    except ValueError as error:
        raise LoadError(f"{name}: no JSON: {error}; {expected}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    readers: dict[str, Callable[[dict[str, Any]], tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]]]
    readers = {
        "taskscale.summary/1": _tables.summary,
        "taskscale.compare/1": _tables.compare,
        "taskscale.digest/1": _tables.digest,
        "taskscale.doctor/1": _tables.doctor,
    }
    if not isinstance(schema, str) or schema not in readers:
        raise LoadError(f"{name}:1: the schema is {schema!r}; {expected}")
    try:
        facts, tables = readers[schema](document)
        frames = {table: _tables.frame(_pandas(), table, rows) for table, rows in tables.items()}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise LoadError(f"{name}: not a whole {schema}: {type(error).__name__} {error}") from error
    kind = schema.partition(".")[2].partition("/")[0]
    return Loaded(name, kind, schema, facts, frames, list(document.get("notes", [])))
