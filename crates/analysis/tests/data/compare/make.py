#!/usr/bin/env python3
"""Writes the two run files of this folder: run it from the root of the repository. The seed is fixed, so it writes them again as they are.

tokio's code is the same in both; Go is another version; what is behind `mine` nobody knows."""
import json, random

PROCESSES, SIZE, ITERATIONS = 10, 2048, 100
# runtime, variant, role, ns per task, new over old (None: only in the other file), processes
ROWS = [
    ("tokio", "spawn", "baseline", 200, 1.0, 10), ("tokio", "spawn", "control", 200, 1.0, 10),
    ("tokio", "JoinSet", "row", 280, 1.0, 10), ("tokio", "join_all", "row", 60, 1.005, 10),
    ("go", "WaitGroup", "baseline", 150, 1.0, 10), ("go", "WaitGroup", "control", 150, 1.0, 10),
    ("go", "errgroup", "row", 220, 1.10, 10), ("go", "channel", "row", 310, 0.85, 10),
    ("go", "pool", "row", 90, "failed", 10), ("go", "recovered", "row", 95, "mended", 10),
    ("mine", "map", "row", 400, 1.022, 10), ("mine", "few", "row", 400, 1.3, 4),
    ("mine", "gone", "row", 100, "gone", 10), ("mine", "came", "row", 100, "came", 10),
    ("uvloop", "wait", "row", 0, "skipped", 0),
]

def write(path, new, seed):
    random.seed(seed)
    lines = [{"type": "header", "schema": "taskscale.run/1", "tool": "0.1.0", "command": ["taskscale", "run", "gate"], "seed": seed, "started_unix_s": 1770000000 + seed,
      "machine": {"cpu_model": "Example CPU 9000", "cpus_usable": 2, "cpus": 2, "threads_per_core": 1, "numa_nodes": 1,
        "cpu_quota": {"reason": "no quota is set"}, "governor": {"reason": "the kernel shows no governor"}, "memory_bytes": 25769803776,
        "kernel": "Linux 6.18.0", "clock_source": "kvm-clock", "load_1m": 0.31, "virtualised": True, "fingerprint": "f00d"}, "suites": []}]
    def runtime(id, language, version, toolchain, command):
        lines.append({"type": "runtime", "id": id, "command": command, "state": "ready", "runtime": {"name": id, "language": language, "version": version, "toolchain": toolchain},
          "clock": {"wall_resolution_ns": 30, "cpu_resolution_ns": 200}, "workers": 2})
    go = "1.26.8" if new else "1.26.7"
    runtime("tokio", "rust", "1.47.1", "rustc 1.89", ["taskscale", "probe", "serve", "tokio"])
    runtime("go", "go", go, "go" + go, ["taskscale/probes/go-323cdf9841a7984" + go[-1] + "/out/probe", "go"])
    runtime("mine", "python", "1.0", "CPython 3.13.0", ["python3", "my_probe.py"])
    lines.append({"type": "runtime", "id": "uvloop", "command": [], "state": "missing", "reason": "uvloop is not installed", "remedy": "python -m pip install uvloop"})
    version = {"tokio": "1.47.1", "go": go, "mine": "1.0", "uvloop": ""}
    rows, baseline = [], {}
    for rt, variant, role, cost, change, processes in ROWS:
        if change == ("gone" if new else "came"): continue
        number = len(rows)
        if role == "baseline": baseline[rt] = number
        lines.append({"type": "row", "row": number, "suite": "gate", "table": "fanout", "workload": "fanout", "runtime": rt, "version": version[rt], "variant": variant, "case": {}, "params": {"order": "ordered"},
          "size": SIZE, "creates_task": variant != "join_all", "role": role, "baseline": None if role == "baseline" else baseline.get(rt)})
        failed = change == ("failed" if new else "mended")
        rows.append((number, rt, variant, cost * (change if new and isinstance(change, float) else 1), processes if not failed else 2, failed))
    order = 0
    for process in range(PROCESSES):
        machine = 1 + 0.02 * random.random()
        for number, rt, variant, cost, processes, _ in rows:
            if process >= processes: continue
            cpu = round(cost * SIZE * ITERATIONS * machine * (1 + 0.003 * random.gauss(0, 1)))
            wall = round(cpu * (1.1 + 0.3 * random.random()))
            lines.append({"type": "sample", "order": order, "row": number, "kind": "timed", "round": process, "process": process, "workload": "fanout", "runtime": rt, "variant": variant, "size": SIZE,
              "iterations": ITERATIONS, "seed": 1000 + order, "wall_ns": wall, "cpu_ns": cpu, "outside_wall_ns": wall + 20000, "answer": 64979968})
            order += 1
    for number, rt, variant, cost, processes, failed in rows:
        end = {"type": "row_end", "row": number, "status": "ok", "stop": "samples"}
        if failed: end = {"type": "row_end", "row": number, "status": "failed", "reason": "answer was 3, expected 64979968", "remedy": "run `taskscale probe check` on it"}
        if rt == "uvloop": end = {"type": "row_end", "row": number, "status": "skipped", "reason": "uvloop is not installed", "remedy": "python -m pip install uvloop"}
        lines.append(end)
    lines.append({"type": "end", "elapsed_s": 12.5})
    with open("crates/report/tests/data/compare/" + path, "w") as file:
        file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)

write("old.jsonl", False, 1)
write("new.jsonl", True, 2)
