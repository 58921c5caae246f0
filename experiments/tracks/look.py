#!/usr/bin/env python3
"""Shows a Chrome trace as a person would look at it: threads, own time of names, how many are active.

    experiments/tracks/look.py [--cat TEXT] TRACE...        (plain or packed by gzip)

For each trace: the time with 0, 1, 2 ... threads inside a slice; for the 12 busiest threads the
slices, the union of their intervals and the names with the most own time (without slices inside);
the names with the most time in all, the longest slices, and which ran alone. With --cat only events
whose category holds TEXT count, and asynchronous ones too, by their thread.
"""

import collections
import sys

from busy import busy, load


def slices(events, cat):
    """Yields (track, start, end, name) in milliseconds."""
    begun = collections.defaultdict(list)
    for event in events:
        phase, name = event.get("ph"), str(event.get("name"))
        if cat and cat not in (event.get("cat") or "") and phase != "E":
            continue
        track = (event.get("pid"), event.get("tid"))
        pair = (event.get("id"), name) if phase in ("b", "e") else track
        if phase == "X" and event.get("dur") is not None:
            yield track, event["ts"] / 1e3, (event["ts"] + event["dur"]) / 1e3, name
        elif phase == "B" or (phase == "b" and cat):
            begun[pair].append((track, event["ts"] / 1e3, name))
        elif phase in ("E", "e") and begun[pair]:
            track, start, name = begun[pair].pop()
            yield track, start, event["ts"] / 1e3, name


def own_time(spans):
    """Sums by name the time that no slice inside takes."""
    own, open_ones = collections.Counter(), []
    for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ones and open_ones[-1][0] <= start:
            open_ones.pop()
        own[name] += end - start
        if open_ones:
            own[open_ones[-1][1]] -= min(end, open_ones[-1][0]) - start
        open_ones.append((end, name))
    return own


def levels(tracks):
    """Returns the time by number of active threads, and the time that outer slices run alone."""
    changes = []
    for track, spans in tracks.items():
        reach = float("-inf")
        for start, end, name in sorted(spans, key=lambda span: (span[0], -span[1])):
            if end > reach:
                changes += [(max(start, reach), 1, track, name), (end, -1, track, name)]
                reach = end
    changes.sort(key=lambda change: change[:2])
    time, alone, active, last = collections.Counter(), collections.Counter(), {}, None
    for at, step, track, name in changes:
        if last is not None:
            time[len(active)] += at - last
            if len(active) == 1:
                alone[next(iter(active.values()))] += at - last
        last = at
        if step > 0:
            active[track] = name
        elif active.get(track) == name:
            del active[track]
    return time, alone


def shown(counter, number=6):
    return ", ".join(f"{name[:60]} {time:.2f}" for name, time in counter.most_common(number))


def main(arguments):
    cat = arguments.pop(1) if arguments[:1] == ["--cat"] else None
    for path in [argument for argument in arguments if argument != "--cat"]:
        events, _ = load(path)
        names = {(e.get("pid"), e.get("tid")): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
        tracks, whole = collections.defaultdict(list), collections.Counter()
        for track, start, end, name in slices(events, cat):
            tracks[track].append((start, end, name))
            whole[name] += end - start
        spans = [(*span, track) for track, spans in tracks.items() for span in spans]
        first, last = min(span[0] for span in spans), max(span[1] for span in spans)
        total = {track: busy([span[:2] for span in spans]) for track, spans in tracks.items()}
        time, alone = levels(tracks)
        print(f"{path.rsplit('/')[-1]}: {len(spans)} slices, {len(tracks)} threads, {last - first:.3f} ms, "
              f"busy {sum(total.values()):.3f} ms")
        print("  threads active: " + ", ".join(f"{n}: {time[n]:.1f}" for n in sorted(time)))
        print(f"  in all: {shown(whole)}\n  alone: {shown(alone)}")
        for start, end, name, track in sorted(spans, key=lambda span: span[0] - span[1])[:6]:
            print(f"  {end - start:.2f} ms at {start - first:.2f}: {name[:60]} ({names.get(track, track)})")
        for track in sorted(total, key=total.get, reverse=True)[:12]:
            print(f"  {names.get(track, track)}: {len(tracks[track])} slices, {total[track]:.2f} ms; "
                  f"own {shown(own_time(tracks[track]))}")


if __name__ == "__main__":
    main(sys.argv[1:])
