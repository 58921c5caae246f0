"""What the comparisons of experiments/harnesses/LANGUAGE have in common: rounds, `taskscale run`, ratios with intervals, the table.

A comparison has forms of `fanout` and ways to measure them. A way is a function from a form to CPU and wall ns per task
(wall is None where the way has none). The first way is the reference, by which the others are divided. In each round
every form is measured in every way, one way after the other, each in fresh processes, so that the interval over rounds
holds what one process differs by from another.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
SIZE = 2048
# Added to the name of a form: there it is measured with this script and all that it starts held to one CPU.
ONE_CPU = ", 1 CPU"
# As in taskscale itself (METHODOLOGY.md, "Interval"): order statistics of fewer have no coverage of 95 %.
FEWEST = 6


def read_arguments(about, rounds, seconds, **switches):
    """The flags that all comparisons have, and switches of this one with their help; `about` is the text of the script,
    `rounds` and `seconds` are defaults."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=rounds, help=f"{FEWEST} or more [{rounds}]")
    how_long = f"for one form in one way, in each round [{seconds}]"
    parser.add_argument("--seconds", type=float, default=seconds, help=how_long)
    parser.add_argument("--output", type=Path, help="where the table goes, besides standard output")
    parser.add_argument("--raw", type=Path, help="where the value of every round goes, as JSON")
    for name, help in switches.items():
        parser.add_argument(f"--{name.replace('_', '-')}", action="store_true", help=help)
    arguments = parser.parse_args()
    if arguments.rounds < FEWEST:
        sys.exit(f"--rounds is {arguments.rounds}; an interval needs {FEWEST}")
    return arguments


def target(name):
    """A folder of this comparison's own under the target directory, for what is built."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR") or TOP / "target") / "experiments" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def find_tool():
    """The binary that TASKSCALE names, else the release build."""
    tool = os.environ.get("TASKSCALE") or str(TOP / "target" / "release" / "taskscale")
    if not Path(tool).exists():
        sys.exit(f"no {tool}: build it by `cargo build --release`, or set TASKSCALE")
    return tool


def said(*command):
    """What a command prints, without the line's end."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Tool:
    """`taskscale run` as a way. Keeps count of processes that had not settled when they were timed."""

    def __init__(self, suite, seconds, *flags):
        self.command = [find_tool(), "run", suite, "--max-time", f"{seconds}s", "--format", "json", *flags]
        self.toolchain, self.settled, self.processes = "", 0, 0

    def __call__(self, runtime, variant, *flags):
        """The medians of CPU and wall ns per task that the tool reports of one form."""
        return self.weigh(runtime, [variant], *flags)[variant]

    def weigh(self, runtime, variants, *flags):
        """The same for several forms in one run, by variant."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "run.taskscale.jsonl"
            chosen = [word for variant in variants for word in ("--variant", variant)]
            done = subprocess.run([*self.command, *flags, *chosen, "-o", file], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"`taskscale run` of {runtime} ended with {done.returncode}:\n{done.stderr}")
        summary = json.loads(done.stdout)
        (state,) = [one for one in summary["runtimes"] if one["id"] == runtime]
        # An id may name a path of this machine.
        self.toolchain = f"{runtime.split('@')[0]} {state['version']}, {state['toolchain']}"
        # The control is a row once more, for the tool's own use.
        rows = [one for one in summary["rows"] if one["runtime"] == runtime and one["role"] != "control"]
        found = {(one["variant"], one["metric"]): one for one in rows if one.get("p50") is not None}
        values = {}
        for variant in variants:
            if (variant, "cpu_per_task") not in found:
                sys.exit(f"`taskscale run` brought no figure of {runtime} {variant}:\n{done.stderr}")
            cpu, wall = found[variant, "cpu_per_task"], found[variant, "wall_per_task"]
            settled = cpu.get("settled") or {"processes": 0, "of": 0}
            self.settled, self.processes = self.settled + settled["processes"], self.processes + settled["of"]
            values[variant] = cpu["p50"], wall["p50"]
        return values


def measure(forms, ways, rounds):
    """The values of all rounds, each by (way, form), and the load average at the start of each."""
    values, loads, cpus = [], [], os.sched_getaffinity(0)
    for number in range(rounds):
        loads.append(os.getloadavg()[0])
        one = {}
        for turn, form in enumerate(forms):
            # Processes inherit it, and runtimes start as many workers.
            os.sched_setaffinity(0, {max(cpus)} if form.endswith(ONE_CPU) else cpus)
            # Which goes first alternates, so that no way always meets the machine as the same other one left it.
            for way in list(ways)[:: -1 if (number + turn) % 2 else 1]:
                one[way, form] = ways[way](form.removesuffix(ONE_CPU))
        values.append(one)
        line = ", ".join(f"{form} {way} {cpu:.1f}" for (way, form), (cpu, _) in one.items())
        print(f"round {number + 1} of {rounds}, load {loads[-1]:.1f}: {line}", file=sys.stderr)
    os.sched_setaffinity(0, cpus)
    return values, loads


def ratio(rounds, form, way, reference):
    """The median over rounds of the CPU time of a way over that of the reference, and an interval of at least 95 %.

    No distribution is assumed, as a second worker that runs or not makes figures of two kinds. The interval is that of
    the sign test: from the k-th smallest to the k-th largest, with the largest k that still covers 95 %."""
    ratios = sorted(one[way, form][0] / one[reference, form][0] for one in rounds)
    n, k = len(ratios), 0
    while 2 * sum(math.comb(n, i) for i in range(k + 1)) <= 0.05 * 2**n:
        k += 1
    return f"{statistics.median(ratios):.3f} ({ratios[k - 1]:.3f} to {ratios[n - k]:.3f})"


def cell(values):
    """Medians over rounds: CPU, and wall in parentheses where there is one."""
    cpu, wall = zip(*values)
    shown = f"{statistics.median(cpu):.1f}"
    return shown if None in wall else f"{shown} ({statistics.median(wall):.1f})"


def table(forms, ways, measured):
    """The table in Markdown, with what it rests on below."""
    rounds, loads = measured
    reference, *others = ways
    head = ["form", *(f"{way}, ns" for way in ways), *(f"{way} / {reference}" for way in others)]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for form in forms:
        cells = [cell([one[way, form] for one in rounds]) for way in ways]
        cells += [ratio(rounds, form, way, reference) for way in others]
        lines.append(f"| {form} | {' | '.join(cells)} |")
    lines += [
        "",
        f"CPU ns (wall ns) per task of {SIZE:,}; medians of {len(rounds)} rounds. Ratios: of CPU time, paired by round,",
        "their median and its 95 % interval (order statistics).",
        f"{os.cpu_count()} processors; load at the start of the rounds {', '.join(f'{load:.1f}' for load in loads)}.",
    ]
    return "\n".join(lines)


def write(title, script, arguments, forms, ways, measured, versions):
    """Prints the result, and writes it where the flags say."""
    switches = [f" --{name.replace('_', '-')}" for name, value in vars(arguments).items() if value is True]
    command = f"{script} --rounds {arguments.rounds} --seconds {arguments.seconds:g}{''.join(switches)}"
    lines = [f"# {title}, {time.strftime('%Y-%m-%d')}", ""]
    lines += [f"Output of `{command}`, whose first lines say what each way is.", ""]
    text = "\n".join([*lines, table(forms, ways, measured), f"{'; '.join(versions)}.", ""])
    print(text, end="")
    if arguments.output:
        arguments.output.write_text(text)
    if arguments.raw:
        values, loads = measured
        rounds = [[dict(way=way, form=form, cpu_wall_ns=pair) for (way, form), pair in one.items()] for one in values]
        arguments.raw.write_text(json.dumps(dict(loads=loads, rounds=rounds), indent=1) + "\n")
