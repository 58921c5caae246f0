"""From the objects of the tool's files to rows of tables, and the units of their columns."""

from __future__ import annotations

from typing import Any, Iterable

Row = dict[str, Any]
Tables = dict[str, list[Row]]

# The table that each record of a run file goes to.
RECORDS = {
    "runtime": "runtimes",
    "row": "rows",
    "sample": "samples",
    "round": "rounds",
    "count": "counts",
    "row_end": "row_ends",
}

# The words for one record and for many.
WORDS = {
    "runtime": ("runtime", "runtimes"),
    "row": ("row", "rows"),
    "sample": ("measurement", "measurements"),
    "round": ("round", "rounds"),
    "count": ("count", "counts"),
    "row_end": ("end of a row", "ends of rows"),
}

# What a record must have, since figures rest on it.
NEEDED: dict[str, dict[str, type]] = {
    "runtime": {"id": str, "state": str},
    "row": {"row": int, "workload": str, "runtime": str, "variant": str, "size": int, "role": str},
    "sample": {
        "order": int,
        "row": int,
        "kind": str,
        "round": int,
        "process": int,
        "runtime": str,
        "variant": str,
        "size": int,
        "iterations": int,
        "wall_ns": int,
        "cpu_ns": int,
    },
    "round": {"table": str, "size": int, "round": int},
    "count": {"row": int, "process": int, "runtime": str, "variant": str, "size": int, "iterations": int},
    "row_end": {"row": int, "status": str},
}

# Columns that a table has in any case, so that a program can name them whatever the file holds.
ALWAYS = {
    "runtimes": ["id", "state", "reason", "remedy"],
    "rows": ["row", "suite", "table", "workload", "runtime", "version", "variant", "case", "params", "size", "role", "baseline"],
    "samples": ["order", "row", "kind", "round", "process", "workload", "runtime", "variant", "size", "iterations"]
    + ["wall_ns", "cpu_ns", "cpu_ns_per_task", "wall_ns_per_task", "threads_ran", "threads_reason"],
    "rounds": ["table", "size", "round", "cpu_pressure_us", "steal_ticks", "load_1m"],
    "counts": ["row", "process", "runtime", "variant", "size", "iterations", "syscalls", "syscalls_reason"]
    + ["allocations_malloc", "allocations_bytes", "allocations_reason"],
    "row_ends": ["row", "status", "stop", "reason", "remedy"],
    "figures": ["runtime", "variant", "size", "metric", "unit", "p50", "ratio", "status", "reason", "remedy"],
    "growth": ["runtime", "variant", "exponent", "exponent_ci_low", "exponent_ci_high", "grade", "reason"],
    "growth_steps": ["runtime", "variant", "from", "to", "exponent", "ci_low", "ci_high"],
    "granularity": ["runtime", "variant", "table", "reason"],
    "points": ["runtime", "variant", "table", "work_ns", "cpu_efficiency"],
    "metg": ["runtime", "variant", "table", "time", "efficiency", "state", "ns", "reason"],
    "ranking": ["suite", "table", "runtime", "variant", "size", "ns", "standing", "ratio"],
    "findings": ["kind", "text", "remedy"],
    "controls": ["runtime", "variant", "size", "ratio"],
    "verdicts": ["runtime", "variant", "size", "old_value", "new_value", "ratio", "verdict", "reason", "remedy"],
    "count_verdicts": ["runtime", "variant", "size", "metric", "unit", "old_median", "new_median", "change", "verdict"],
    "sides": ["id", "old", "new", "same_code"],
    "losses": ["loss", "share"],
    "quantiles": ["of", "count", "min", "p50", "p90", "p99", "max", "mean", "reason", "remedy"],
    "names": ["name", "tasks", "total_ns", "own_ns", "share"],
    "workers": ["worker", "thread", "tasks", "busy", "first_ns", "last_ns"],
    "outliers": ["name", "worker", "start_ns", "duration_ns"],
    "timeline": ["start_ns", "active"],
    "levels": ["from", "to", "share"],
    "patterns": ["name", "share", "evidence", "remedy", "predicted_from", "predicted_to", "bound"],
    "dropped": ["reason", "events"],
    "checks": ["subject", "severity", "found", "found_reason", "effect_value", "effect_unit", "remedy"],
}

# Units that a column's name does not end in.
UNITS = {
    "ns": "ns",
    "share": "share",
    "busy": "share",
    "load_1m": "threads",
    "steal_ticks": "ticks of 10 ms",
    "threads_ran": "threads",
    "active": "workers",
    "size": "tasks",
    "tasks": "tasks",
    "size_tasks": "tasks",
    "cpu_ns_per_task": "ns",
    "wall_ns_per_task": "ns",
    "syscalls": "calls",
}
SUFFIXES = {"_ns": "ns", "_us": "us", "_ms": "ms", "_s": "s", "_bytes": "bytes", "_share": "share", "_efficiency": "share"}
# The quantiles of a digest are times, except how many there are.
QUANTILES = ["min", "p50", "p90", "p99", "max", "mean"]
# The calls of an allocator.
CALLS = ["allocations_" + name for name in ("malloc", "calloc", "realloc", "aligned", "free")]


def unit(table: str, column: str) -> str | None:
    """The unit of a column, where it has one of its own."""
    if table == "quantiles" and column in QUANTILES:
        return "ns"
    if column in CALLS:
        return "calls"
    if table == "verdicts" and column.startswith(("old_", "new_")) and ("value" in column or "_ci" in column):
        return "ns"
    if table == "ranking" and column in ("ci_low", "ci_high"):
        return "ns"
    return UNITS.get(column) or next((unit for end, unit in SUFFIXES.items() if column.endswith(end)), None)


def flat(record: Row) -> Row:
    """One level of columns: intervals have a low and a high end, a missing value has its reason beside it."""
    row: Row = {}
    for key, value in record.items():
        if key in ("params", "case") and isinstance(value, dict):
            row[key] = " ".join(f"{name}={_word(part)}" for name, part in sorted(value.items()))
        elif (key == "ci" or key.endswith("_ci")) and (value is None or _pair(value)):
            row[f"{key}_low"], row[f"{key}_high"] = value or (None, None)
        elif isinstance(value, dict) and "reason" in value and set(value) <= {"reason", "remedy"}:
            row[key] = None
            row[f"{key}_reason"], row[f"{key}_remedy"] = value["reason"], value.get("remedy")
        elif isinstance(value, dict):
            row.update((f"{key}_{name}", part) for name, part in flat(value).items())
        elif isinstance(value, list):
            row[key] = tuple(value)
        else:
            row[key] = value
    return row


def frame(pandas: Any, table: str, records: Iterable[Row]) -> Any:
    """A table of records, with the columns that it always has first."""
    rows = [flat(record) for record in records]
    if table == "samples":
        rows = [{**row, **_per_task(row)} for row in rows]
    columns = list(dict.fromkeys(ALWAYS[table] + [column for row in rows for column in row]))
    # Columns one by one: integers past 2^63 stay whole.
    data = {column: [row.get(column) for row in rows] for column in columns}
    made = pandas.DataFrame({name: pandas.Series(values, dtype="object") for name, values in data.items()}, columns=columns)
    made = made.convert_dtypes()
    # A column of no value at all has no kind; NA is what its values are.
    for column in columns:
        if made[column].dtype == object:
            made[column] = made[column].where(made[column].notna(), pandas.NA)
    made.attrs["units"] = {column: unit(table, column) for column in columns if unit(table, column)}
    return made


def _per_task(row: Row) -> Row:
    tasks = row["iterations"] * row["size"]
    return {f"{time}_ns_per_task": row[f"{time}_ns"] / tasks if tasks > 0 else None for time in ("cpu", "wall")}


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2


def _key(record: Row) -> Row:
    """What names a series or a row."""
    names = ("suite", "table", "workload", "runtime", "version", "variant", "case", "params", "size")
    return {name: record[name] for name in names if name in record}


def _without(record: Row, *names: str) -> Row:
    return {name: value for name, value in record.items() if name not in names}


def summary(document: Row) -> tuple[Row, Tables]:
    """The facts and tables of ``taskscale.summary/1``."""
    overview, control = document["overview"], document["control"]
    tables: Tables = {
        "runtimes": [{"state": "missing" if "reason" in one else "ready", **one} for one in document["runtimes"]],
        "figures": document["rows"],
        "growth": [_without(one, "steps") for one in document["growth"]],
        "growth_steps": [{**_key(one), **step} for one in document["growth"] for step in one["steps"]],
        "granularity": [_without(one, "points", "metg") for one in document["granularity"]],
        "points": [{**_key(one), **point} for one in document["granularity"] for point in one.get("points", [])],
        "metg": [{**_key(one), **metg} for one in document["granularity"] for metg in one.get("metg", [])],
        "ranking": [
            {"suite": ranking["suite"], "table": ranking["table"], **row}
            for ranking in overview["rankings"]
            for row in ranking["rows"]
        ],
        "findings": overview["findings"],
        "controls": control["rows"],
    }
    facts = _without(document, "schema", "rows", "growth", "granularity", "overview", "runtimes", "notes", "control")
    return {**facts, "elapsed_s": overview.get("elapsed_s"), "control": _without(control, "rows")}, tables


def compare(document: Row) -> tuple[Row, Tables]:
    """The facts and tables of ``taskscale.compare/1``."""
    counts = [{**_key(row), **count} for row in document["rows"] for count in row["counts"]]
    tables: Tables = {
        "verdicts": [_without(row, "counts") for row in document["rows"]],
        "count_verdicts": counts,
        "sides": document["runtimes"],
    }
    return _without(document, "schema", "rows", "runtimes", "notes"), tables


def digest(document: Row) -> tuple[Row, Tables]:
    """The facts and tables of ``taskscale.digest/1``."""
    parallelism, queue = document["parallelism"], document["queue"]
    delay = queue.get("delay", queue)
    quantiles = [("duration", document["duration"]), ("gap", document["gap"]), ("queue delay", delay)]
    step = parallelism["step_ns"]
    tables: Tables = {
        "losses": [{"loss": loss, "share": share} for loss, share in document["losses"].items()],
        "patterns": [_without(one, "tasks", "threads", "when", "change") for one in document["patterns"]],
        "quantiles": [{"of": of, **values} for of, values in quantiles],
        "names": document["names"]["top"],
        "workers": document["workers_detail"]["workers"],
        "outliers": document["outliers"],
        "timeline": [{"start_ns": at * step, "active": one} for at, one in enumerate(parallelism["timeline"])],
        "levels": parallelism["histogram"],
        "dropped": document["dropped"]["dropped"],
    }
    facts = {name: value for name, value in document.items() if not isinstance(value, (list, dict))}
    # Each is a number, or why there is none.
    facts.update({name: document[name] for name in ("scheduling_cost_ns", "break_even_ns", "confidence", "nesting")})
    facts["diagnosis"] = None
    if document["patterns"]:
        facts["diagnosis"] = document["patterns"][0]["name"]
    return _without(facts, "schema"), tables


def doctor(document: Row) -> tuple[Row, Tables]:
    """The facts and tables of ``taskscale.doctor/1``."""
    facts = {"tool": document["tool"], "machine": document["machine"]}
    return facts, {"checks": document["findings"]}
