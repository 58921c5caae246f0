#!/usr/bin/env python3
"""Compares the digest of Chrome traces with sums that this script makes by itself.

    experiments/tracks/busy.py TRACE...          (plain or packed by gzip; TASKSCALE names the tool)

For each trace the script reads all events by Python's own parser, chooses the tracks that are
workers by rules written here once more, and sums the union of each track's intervals. It compares
that with the union over the spans that the tool hands on (`--chrome`), and with the busy time of
its digest. The first of the two shows which tracks and spans count; the second also shows what the
digest makes of their order. Exit status 1 where the first is off by more than 0.1 %.
"""

import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

POOL_OF_NODE = "node.threadpoolwork.sync"
TASKS_OF_PYTORCH = {"cpu_op", "kernel", "gpu_memcpy", "gpu_memset"}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    whole = json.loads(data.decode("utf-8", "replace"), strict=False)
    return (whole, {}) if isinstance(whole, list) else (whole["traceEvents"], whole)


def intervals(events):
    """Yields (track, category, name, arguments, start, end) of complete events, pairs, and Node's callbacks."""
    open_ones = collections.defaultdict(list)
    for event in events:
        track = (str(event.get("pid")), str(event.get("tid")))
        phase, ts = event.get("ph"), event.get("ts")
        what = (event.get("cat") or "", event.get("name") or "", event.get("args") or {})
        if phase == "X" and ts is not None and event.get("dur") is not None and float(event["dur"]) >= 0:
            yield track, *what, float(ts), float(ts) + float(event["dur"])
        elif phase == "B":
            open_ones[track].append((*what, float(ts)))
        elif phase == "E" and open_ones[track]:
            *what, start = open_ones[track].pop()
            yield track, *what, start, float(ts)
        elif phase == "b" and what[1].endswith("_CALLBACK"):
            open_ones[event.get("id"), what[1]].append((track, *what, float(ts)))
        elif phase == "e" and open_ones[event.get("id"), what[1]]:
            *what, start = open_ones[event.get("id"), what[1]].pop()
            yield *what, start, float(ts)


def workers(events, whole):
    """Returns the writer and the intervals of each track that is a worker."""
    tracks = collections.defaultdict(list)
    writer = "plain"
    if "build_id" in whole.get("otherData", {}):
        writer = "bazel"
    elif "schemaVersion" in whole or "deviceProperties" in whole:
        writer = "pytorch"
    elif any("node.async_hooks" in (event.get("cat") or "") for event in events):
        writer = "node"
    elif any((event.get("cat") or "").startswith("task::") for event in events):
        writer = "ray"
    for track, cat, name, args, start, end in intervals(events):
        if name.startswith("Total ") and "avg ms" in args:
            writer = "clang"
        elif writer == "bazel" and cat != "action processing":
            pass
        elif writer == "node" and not name.endswith("_CALLBACK") and POOL_OF_NODE not in cat:
            pass
        elif writer == "ray" and not cat.startswith("task::"):
            pass
        elif writer == "pytorch" and (cat not in TASKS_OF_PYTORCH or name.startswith("ProfilerStep#")):
            pass
        else:
            tracks[track].append((start, end))
    if writer == "plain":
        drop_summaries(tracks)
    return writer, tracks


def drop_summaries(tracks):
    """Drops tracks with one interval as long as all others together, beside many others."""
    others = [span for spans in tracks.values() if len(spans) > 1 for span in spans]
    if not others:
        return
    length = lambda spans: max(end for _, end in spans) - min(start for start, _ in spans)
    whole = length([span for spans in tracks.values() for span in spans])
    long = [track for track, spans in tracks.items() if len(spans) == 1 and length(spans) >= 0.95 * whole]
    several = sum(len(spans) > 1 for spans in tracks.values())
    if whole > 0 and length(others) >= 0.9 * whole and len(long) <= several and len(others) >= 16 * len(long):
        for track in long:
            del tracks[track]


def busy(spans):
    """Sums the union of intervals."""
    total, last = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, last))
        last = max(last, end)
    return total


def sums(tracks):
    """Returns the number of tracks and spans, the window and the busy time, in microseconds."""
    spans = [span for spans in tracks.values() for span in spans]
    if not spans:
        return 0, 0, 0.0, 0.0
    window = max(end for _, end in spans) - min(start for start, _ in spans)
    return len(tracks), len(spans), window, sum(map(busy, tracks.values()))


def tool(path):
    """Returns the digest of the tool, and its spans by worker."""
    with tempfile.TemporaryDirectory() as folder:
        clean = os.path.join(folder, "clean.json")
        command = [os.environ.get("TASKSCALE", "target/release/taskscale"), "digest", "--format", "json"]
        out = subprocess.run([*command, "--chrome", clean, path], capture_output=True, check=True).stdout
        events, _ = load(clean)
    tracks, begun = collections.defaultdict(list), {}
    for event in events:
        if event["ph"] == "X":
            tracks[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "b":
            begun[event["id"]] = event["ts"]
        elif event["ph"] == "e":
            tracks[event["tid"]].append((begun.pop(event["id"]), event["ts"]))
    return json.loads(out), tracks


def off(value, truth):
    return 0.0 if truth == value else 100.0 * (value - truth) / truth if truth else float("inf")


def main(paths):
    print("| trace | writer | workers | spans | window, ms | busy, ms | spans of the tool | its digest |")
    print("|---|---|--:|--:|--:|--:|--:|--:|")
    worst = 0.0
    for path in paths:
        writer, tracks = workers(*load(path))
        count, spans, window, truth = sums(tracks)
        digest, of_tool = tool(path)
        its_count, its_spans, its_window, its_busy = sums(of_tool)
        digested = digest["losses"]["work"] * digest["workers"] * digest["window_ns"] / 1e3
        same = (count, spans) == (its_count, its_spans)
        worst = max(worst, abs(off(its_busy, truth)), abs(off(its_window, window)), 0.0 if same else 100.0)
        print(
            f"| {os.path.basename(path)[:44]} | {writer} | {count} | {spans} | {window / 1e3:.3f} | {truth / 1e3:.3f} "
            f"| {off(its_busy, truth):+.3f} %{'' if same else f', {its_count} workers, {its_spans} spans'} "
            f"| {off(digested, truth):+.3f} % |"
        )
    return 1 if worst > 0.1 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
