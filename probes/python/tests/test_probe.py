"""The probe as the tool sees it: a process with pipes. What it should answer is computed here on its own.

Runs under any Python from 3.8 on, with whatever runtimes that one has: `python -m unittest discover -s tests`."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent.parent
SIZES = (1, 7, 200)
RUNTIMES = ("asyncio", "uvloop", "trio", "anyio")


class Session:
    """A probe, and how to talk to it."""

    def __init__(self, *command, **options):
        command = command or ("asyncio",)
        if len(command) == 1:
            command = (sys.executable, str(FOLDER / "taskscale_probe"), *command)
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.process = subprocess.Popen(command, **pipes, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def ask(self, line):
        line = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def describe(self):
        return self.ask({"type": "describe", "protocol": 1, "new": []})

    def run(self, workload, variant, size=7, iterations=1, **params):
        request = dict(type="run", id=7, workload=workload, variant=variant, size=size, iterations=iterations)
        return self.ask(dict(request, seed=11, params=params))

    def end(self):
        """Ends the input; gives what was still said and the exit status."""
        said, self.complaints = self.process.communicate()
        return said, self.process.returncode


def spin(seed, steps):
    """The kernel, written a second time."""
    mask = (1 << 64) - 1
    z = (seed + 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    x = z ^ (z >> 31)
    for _ in range(steps):
        x ^= (x << 13) & mask
        x ^= x >> 7
        x ^= (x << 17) & mask
    return x


def sum_of_tasks(size, work):
    if work == 0:
        return 31 * size * (size - 1) // 2
    return sum(spin(11 + i, work) for i in range(size)) % 2**64


def variants(description, workload):
    (declared,) = [one for one in description["workloads"] if one["name"] == workload]
    return [one for one in declared["variants"] if "unavailable" not in one]


def installed(runtime):
    with Session(runtime) as session:
        return session.describe()["type"] == "description"


class Fanout(unittest.TestCase):
    def check(self, session, name, order, size, window, work, verify):
        params = dict(order=order, window=window, work=work, verify=verify)
        sample = session.run("fanout", name, size, 3, **params)
        case = f"{name} size {size} {params}: {sample}"
        self.assertEqual(sample["type"], "sample", case)
        counted = order != "discard" or verify
        self.assertEqual(sample["answer"], (sum_of_tasks(size, work) if counted else size) * 3 % 2**64, case)
        self.assertEqual(sample["id"], 7, case)
        self.assertGreater(sample["wall_ns"], 0, case)
        if verify:
            self.assertEqual(sample["extra"]["executed"], size * 3, case)
            self.assertEqual(sample["extra"]["workers_seen"], 1, case)
            self.assertIn(sample["extra"]["max_live"], range(1, min(window or size, size) + 1), case)

    def every_answer(self, runtime):
        if not installed(runtime):
            self.skipTest(f"{runtime} is not installed for this Python (pip install {runtime}; target/venv has it)")
        with Session(runtime) as session:
            for variant in variants(session.describe(), "fanout"):
                for order in variant["only"]["order"]:
                    for size in SIZES:
                        for window, work, verify in (
                            (0, 0, False),
                            (0, 0, True),
                            (0, 3, False),
                            (0, 3, True),
                            (5, 0, False),
                            (5, 0, True),
                            (5, 3, True),
                        ):
                            self.check(session, variant["name"], order, size, window, work, verify)
            self.assertEqual(session.end(), (b"", 0))
            self.assertEqual(session.complaints, b"")

    def test_asyncio(self):
        self.every_answer("asyncio")

    def test_uvloop(self):
        self.every_answer("uvloop")

    def test_trio(self):
        self.every_answer("trio")

    def test_anyio(self):
        self.every_answer("anyio")

    def test_tasks_of_a_graph_wait_for_those_before_them(self):
        with Session() as session:
            for pattern in ("trivial", "chain", "tree", "stencil"):
                for size in SIZES:
                    for work, verify in ((0, False), (0, True), (3, True)):
                        sample = session.run("graph", "create_task", size, 3, pattern=pattern, work=work, verify=verify)
                        case = f"{pattern} size {size} work {work}: {sample}"
                        self.assertEqual(sample.get("answer"), sum_of_tasks(size, work) * 3 % 2**64, case)

    def test_the_patterns_are_those_of_the_protocol(self):
        from taskscale_probe.workloads.graph import PATTERNS

        numbers = {name: [before(10)(i) for i in range(10)] for name, before in PATTERNS.items()}
        self.assertEqual(numbers["trivial"], [[]] * 10)
        self.assertEqual(numbers["chain"], [[]] + [[i] for i in range(9)])
        self.assertEqual(numbers["tree"], [[], [0], [0], [1], [1], [2], [2], [3], [3], [4]])
        # Three tasks a step, and the first of a fourth step.
        steps = [[0, 1], [0, 1, 2], [1, 2], [3, 4], [3, 4, 5], [4, 5], [6, 7]]
        self.assertEqual(numbers["stencil"], [[], [], []] + steps)

    def test_a_window_is_kept_full(self):
        with Session() as session:
            for name in ("await_each", "wait", "gather"):
                sample = session.run("fanout", name, 200, window=5, verify=True)
                self.assertEqual(sample["extra"]["max_live"], 5, name)

    def test_an_extra_spin_does_not_change_the_answer(self):
        with Session() as session:
            self.assertEqual(session.run("fanout", "gather", extra_spin=9)["answer"], 31 * 21)

    def test_phases_tell_the_share_of_creation(self):
        with Session() as session:
            sample = session.run("fanout", "wait", 200, 20, phases=True)
            self.assertIn(sample["extra"]["create_wall_ns"], range(1, sample["wall_ns"]))
            self.assertGreater(sample["extra"]["create_cpu_ns"], 0)
            self.assertNotIn("extra", session.run("fanout", "wait"))
            self.assertNotIn("extra", session.run("fanout", "await_only", phases=True))


class Nop(unittest.TestCase):
    def test_history_does_the_smaller_sizes_first_in_the_same_process(self):
        with Session("asyncio") as session:
            sample = session.run("nop", "wait", 35, 2, history=10, verify=True)
            self.assertEqual((sample["answer"], sample["extra"]["earlier_tasks"]), (2 * 35, 10 + 20 + 30))
            sample = session.run("nop", "wait", 10, 2, history=10, verify=True)
            self.assertEqual((sample["answer"], sample["extra"].get("earlier_tasks")), (2 * 10, None))

    def test_every_variant_and_axis_counts(self):
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), "nop"):
                    name = variant["name"]
                    inputs = variant.get("only", {}).get("input", ["inside", "before"])
                    for size in SIZES:
                        for source in inputs:
                            for live in (0, 3):
                                sample = session.run("nop", name, size, 2, live=live, input=source)
                                self.assertEqual(sample["answer"], 2 * size, f"{runtime} {name} {sample}")
                                sample = session.run("nop", name, size, 2, live=live, input=source, verify=True)
                                case = f"{runtime} {name} size {size} live {live} {source}: {sample}"
                                self.assertEqual(sample["answer"], 2 * size, case)
                                self.assertEqual(sample["extra"]["executed"], 2 * size, case)
                                self.assertEqual(sample["extra"]["remaining_tasks"], 0, case)
                                if source == "inside":
                                    self.assertLessEqual(sample["extra"]["max_live"], min(live or size, size), case)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)

    def test_the_collector_is_as_asked_for(self):
        with Session() as session:
            collections = {}
            for state in ("on", "off", "freeze", "collect"):
                sample = session.run("nop", "wait", 5000, 2, gc=state, phases=True)
                collections[state] = sum(sample["extra"]["gc_collections"])
            self.assertEqual(collections["off"], 0)
            self.assertGreater(collections["on"], 0)
            self.assertGreater(collections["freeze"], 0)
            self.assertGreater(collections["collect"], 0)

    def test_a_collection_with_the_collector_off_is_found(self):
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        import gc
        from types import SimpleNamespace

        from taskscale_probe.workloads.nop import nothing, performer

        async def collects(plan, size, phases):
            await nothing()
            gc.collect()

        async def time_async(one):
            await one(None)
            return {"extra": {}}

        def request(state):
            params = {"gc": state, "live": 0, "input": "inside", "history": 0}
            return SimpleNamespace(size=9, iterations=1, verify=False, phases=True, params=params, time_async=time_async)

        perform = performer("asyncio", collects, eager=False, suspend=False)
        self.assertEqual(sum(perform(request("on"))["extra"]["gc_collections"]), 1)
        with self.assertRaises(RuntimeError) as raised:
            perform(request("off"))
        said = "gc=off did not hold (collections: 1): gc.collect or gc.enable was called in the timed part (9 tasks, 1 times)"
        self.assertIn(said, str(raised.exception))
        self.assertTrue(gc.isenabled())

    def test_the_collector_is_as_before_afterwards(self):
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        import gc

        from taskscale_probe.workloads.nop import collector

        for state, enabled in (("on", True), ("off", False), ("freeze", True), ("collect", True)):
            for before in (True, False):
                gc.enable() if before else gc.disable()
                # Python 3.12 freezes some hundred objects on its own; all that a test has are thousands.
                frozen = gc.get_freeze_count() + 1000
                try:
                    with collector(state):
                        self.assertEqual(gc.isenabled(), enabled)
                        self.assertEqual(gc.get_freeze_count() > frozen, state == "freeze")
                    self.assertEqual(gc.isenabled(), before)
                    self.assertLess(gc.get_freeze_count(), frozen)
                finally:
                    gc.enable()


class Parked(unittest.TestCase):
    def test_all_wait_at_once_and_are_woken(self):
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), "parked"):
                    for on in ("event", "timer", "lock"):
                        for resident in (False, True):
                            sample = session.run("parked", variant["name"], 50, 2, on=on, resident=resident, verify=True)
                            case = f"{runtime} {variant['name']} {on}: {sample}"
                            self.assertEqual((sample.get("answer"), sample["extra"]["waiting"]), (100, 50), case)
                            self.assertEqual("resident_waiting" in sample["extra"], resident, case)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)

    def test_memory_grows_with_the_tasks(self):
        with Session() as session:
            extra = session.run("parked", "await_each", 50_000, resident=True)["extra"]
            # A task has some 300 bytes, and its coroutine and frame as many.
            self.assertGreater(extra["resident_waiting"] - extra["resident_before"], 50_000 * 500, extra)

    def test_a_task_that_does_not_wait_is_found(self):
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        import asyncio
        import gc
        from types import SimpleNamespace

        from taskscale_probe.workloads.parked import Watch

        run = SimpleNamespace(size=2, params={"on": "event", "resident": False}, verify=True)
        turn = lambda: asyncio.sleep(0)
        self.addCleanup(gc.enable)
        for waits, ended, said in ((1, 0, "1 of 2 tasks waited, and 0 ended"), (2, 1, "2 of 2 tasks waited, and 1 ended")):
            watch = Watch(run)
            watch.begin()
            watch.waiting = waits
            with self.assertRaisesRegex(RuntimeError, said):
                asyncio.run(watch.until_all(turn, lambda: ended))


class Blocking(unittest.TestCase):
    def test_every_call_blocks_and_waits_are_told(self):
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), "blocking"):
                    if "unavailable" in variant:
                        continue
                    sample = session.run("blocking", variant["name"], 9, 2, block_us=2000, every=4)
                    case = f"{runtime} {variant['name']}: {sample}"
                    blocks = variant["name"] != "without"
                    self.assertEqual((sample.get("answer"), sample["extra"]["blocked"]), (18, 6 if blocks else 0), case)
                    waits = [sample["extra"][f"wait_{name}_ns"] for name in ("p50", "p99", "max")]
                    self.assertTrue(0 < waits[0] <= waits[1] <= waits[2], case)
                    # Each iteration lasts at least as long as one call. The timer of libuv, which counts whole
                    # milliseconds from when the loop last looked at its clock, may be early by less than one.
                    early = 1_000_000 if (runtime, variant["name"]) == ("uvloop", "sleep") else 0
                    self.assertTrue(sample["wall_ns"] >= 2 * (2_000_000 - early) or not blocks, case)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)


class Cancelled(unittest.TestCase):
    """`cancel` sees every task cancelled, and no other."""

    def test_all_that_wait_are_cancelled_by_every_form(self):
        for runtime in filter(installed, RUNTIMES):
            with Session(runtime) as session:
                for variant in variants(session.describe(), "cancel"):
                    if "unavailable" in variant:
                        continue
                    for on in ("event", "timer", "lock"):
                        for first in variant["only"]["first"]:
                            sample = session.run("cancel", variant["name"], 50, 2, on=on, first=first, verify=True)
                            case = f"{runtime} {variant['name']} {on} {first}: {sample}"
                            self.assertEqual(sample.get("answer"), 100, case)
                            self.assertGreater(sample["extra"]["setup_wall_ns"], 0, case)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"", runtime)

    def test_the_order_of_cancelling_is_the_one_asked_for(self):
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        import asyncio
        from types import SimpleNamespace

        from taskscale_probe.workloads import cancel

        for first, expected in (("oldest", [0, 1, 2]), ("newest", [2, 1, 0])):
            seen = []

            class Task:
                def __init__(self, number, future):
                    self.number, self.future = number, future

                def cancel(self):
                    seen.append(self.number)
                    self.future.cancel()

                def __await__(self):
                    return self.future.__await__()

            async def main():
                loop = asyncio.get_running_loop()

                async def started(_watch, _create):
                    return [Task(number, loop.create_future()) for number in range(3)]

                async def timed(body):
                    return await body()

                watch = SimpleNamespace(once=SimpleNamespace(params={"first": first}), time=timed)
                real, cancel.started = cancel.started, started
                try:
                    await cancel.each(watch)
                finally:
                    cancel.started = real

            asyncio.run(main())
            self.assertEqual(seen, expected, first)


class SetUp(unittest.TestCase):
    """What is set up untimed is told beside the times."""

    def test_each_iteration_has_what_was_made_for_it_and_the_rest_is_told(self):
        sys.path.insert(0, str(FOLDER))
        from taskscale_probe.sdk import timing

        now = [0, 0]

        def passes(wall, cpu):
            now[0] += wall
            now[1] += cpu

        made = iter([10, 20, 30])

        def setup():
            passes(1_000, 100)
            return next(made)

        def one(_phases, work):
            passes(5, 4)
            return work

        ended = []

        def teardown(work):
            ended.append(work)
            passes(100, 10)

        run = timing.Timed()
        run.iterations, run.phases = 3, False
        clocks = timing.wall_ns, timing.cpu_ns
        timing.wall_ns, timing.cpu_ns = lambda: now[0], lambda: now[1]
        try:
            sample = run.time_each(setup, one, teardown)
        finally:
            timing.wall_ns, timing.cpu_ns = clocks
        told = dict(setup_wall_ns=3_300, setup_cpu_ns=330)
        self.assertEqual(sum(ended), 60)
        self.assertEqual(sample, dict(wall_ns=15, cpu_ns=12, answer=60, extra=told))

    def test_a_function_of_pytest_benchmark_is_performed_as_it_is(self):
        from taskscale_probe.sdk.timing import Timed

        run, seen = Timed(), []
        run.iterations, run.phases = 3, False

        def test_append(benchmark, what):
            benchmark.extra_info["what"] = what
            assert benchmark(lambda one: seen.append(one) or len(seen), what) == 3

        def test_pop(benchmark):
            setup = lambda: ((seen,), {})
            benchmark.pedantic(list.pop, setup=setup, teardown=lambda them: them.append(0), rounds=7)
            assert len(seen) == 3

        sample = run.benchmark(test_append, "x")
        self.assertEqual((sample["answer"], seen, sample["extra"]), (3, ["x"] * 3, {}))
        sample = run.benchmark(test_pop)
        self.assertEqual((sample["answer"], seen[-1], "setup_cpu_ns" in sample["extra"]), (3, 0, True))
        with self.assertRaisesRegex(ValueError, "never called its benchmark"):
            run.benchmark(lambda benchmark: None)

    def test_a_function_that_gives_no_number_or_no_timing_is_told_what_to_do(self):
        from unittest import mock

        from taskscale_probe.sdk.describe import WORKLOADS
        from taskscale_probe.sdk.serve import reply, run as perform

        async def nap(_phases):
            return 1

        ways = {
            "nothing": (lambda run: run.time(lambda _phases: None), "return a number from what `run.time` is given"),
            "coroutine": (lambda run: run.time(nap), "'coroutine'"),
            "number": (lambda run: 7, "return what `run.time` gives: the variant gave int"),
            "own": (lambda run: run.time(lambda _phases: 1 + None), "'int' and 'NoneType'"),
        }
        declared = {"poll": {"params": {}, "variants": {way: ({}, way_of) for way, (way_of, _) in ways.items()}}}
        with mock.patch.dict(WORKLOADS, declared):
            for way, (_, words) in ways.items():
                asked = dict(type="run", id=7, workload="poll", variant=way, size=9, iterations=2, seed=1, params={})
                said = reply(json.dumps(asked), perform)
                self.assertEqual(said["type"], "error", way)
                self.assertIn(words, said["message"])
                # What fails within the user's own function is their matter.
                self.assertEqual("run.time_async" in said["message"], way in ("nothing", "coroutine"), said)

    def test_a_workload_that_sets_up_says_so(self):
        with Session("asyncio") as probe:
            sample = probe.run("drain", "wait", size=50, iterations=4)
            self.assertEqual(sample["answer"], 200)
            self.assertGreater(sample["extra"]["setup_wall_ns"], 0)
            self.assertGreater(sample["extra"]["setup_cpu_ns"], 0)
            self.assertNotIn("setup_cpu_ns", probe.run("fanout", "gather").get("extra", {}))


class Spin(unittest.TestCase):
    def test_the_answer_is_that_of_the_kernel(self):
        with Session() as session:
            for size in SIZES:
                sample = session.run("spin", "loop", size, 5)
                self.assertEqual(sample["answer"], 5 * spin(11, size) % 2**64)

    def test_splitmix_is_the_published_generator(self):
        # First outputs of splitmix64 with seed 1234567, from its author's reference program.
        sys.path.insert(0, str(FOLDER))
        self.addCleanup(sys.path.remove, str(FOLDER))
        from taskscale_probe.workloads.spin import splitmix

        published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
        outputs = [splitmix((1234567 + j * 0x9E3779B97F4A7C15) % 2**64) for j in range(3)]
        self.assertEqual(outputs, published)


class Protocol(unittest.TestCase):
    good = dict(type="run", id=1, workload="fanout", variant="gather", size=4, iterations=1, seed=1, params={})

    def test_the_description_names_what_runs(self):
        with Session() as session:
            description = session.describe()
        self.assertEqual((description["type"], description["protocol"]), ("description", 1))
        runtime = description["runtime"]
        self.assertEqual((runtime["name"], runtime["language"]), ("asyncio", "python"))
        self.assertEqual(runtime["version"], ".".join(map(str, sys.version_info[:3])))
        self.assertGreater(description["clock"]["wall_resolution_ns"], 0)
        self.assertGreater(description["clock"]["cpu_resolution_ns"], 0)
        (fanout,) = [one for one in description["workloads"] if one["name"] == "fanout"]
        old = {one["name"] for one in fanout["variants"] if "unavailable" in one}
        expected = {name for name, version in (("TaskGroup", (3, 11)), ("eager", (3, 12))) if sys.version_info < version}
        self.assertEqual(old, expected)

    def test_what_cannot_be_done_is_an_error_and_the_probe_lives_on(self):
        without = lambda name: {key: value for key, value in self.good.items() if key != name}
        cases = [
            (dict(self.good, workload="lunch"), 'unknown workload "lunch"; known here: fanout, '),
            (dict(self.good, variant="twice"), 'unknown variant "twice"; known here: '),
            (dict(self.good, type="dance"), 'unknown request type "dance"; known here: describe, run, exit'),
            (b"", "not JSON"),
            (b"hello", "not JSON"),
            (b'{"type":"run"', "not JSON"),
            (b'{"type":"\xff"}', "not JSON"),
            (b"[" * 100_000, "not JSON"),
            (b"x" * (5 << 20), "not JSON"),
            # The tool sends none of these; whoever types them is told something all the same.
            (b"[]", "AttributeError: "),
            (without("size"), "'size'"),
            (dict(self.good, params=[]), "AttributeError: "),
        ]
        with Session() as session:
            for line, expected in cases:
                reply = session.ask(line)
                self.assertEqual(reply["type"], "error", f"{str(line)[:80]}: {reply}")
                self.assertIn(expected, reply["message"])
                self.assertNotIn("missing", reply)
            reply = session.ask({"type": "describe", "protocol": 2})
            self.assertEqual(reply["protocol"], 1)
            self.assertIn("protocol 2", reply["message"])
            self.assertIn("protocol 1", reply["message"])
            self.assertEqual(session.ask(dict(self.good, new=0))["answer"], 31 * 6)
            self.assertEqual(session.ask(without("params"))["answer"], 31 * 6)

    def test_it_ends_after_exit_and_at_the_end_of_input(self):
        with Session() as session:
            self.assertEqual(session.end(), (b"", 0))
        with Session() as session:
            session.process.stdin.write(b'{"type":"exit"}\n{"type":"describe","protocol":1}\n')
            self.assertEqual(session.end(), (b"", 0))

    def test_a_runtime_that_is_not_there_is_missing_and_not_broken(self):
        # -S leaves the folder of installed packages out, so trio is missing whether it is there or not.
        with Session(sys.executable, "-S", str(FOLDER / "taskscale_probe"), "trio") as session:
            for line in ({"type": "describe", "protocol": 1}, self.good):
                reply = session.ask(line)
                self.assertEqual((reply["type"], reply["missing"]), ("error", True))
                self.assertIn("trio is not installed for this Python", reply["message"])
                self.assertEqual(reply["remedy"], "taskscale setup python, or for this Python: python -m pip install trio")
            self.assertEqual(session.end(), (b"", 0))
            self.assertEqual(session.complaints, b"")

    def test_an_unknown_runtime_is_a_usage_error(self):
        with Session("fortran") as session:
            self.assertEqual(session.end(), (b"", 2))

    def test_it_runs_as_a_module_too(self):
        with Session(sys.executable, "-m", "taskscale_probe", "asyncio", cwd=str(FOLDER)) as session:
            self.assertEqual(session.describe()["type"], "description")

    def test_a_python_that_is_too_old_says_so(self):
        pretend = (
            "import runpy, sys; sys.version_info = (3, 6, 15); sys.argv[1:] = ['asyncio']; "
            "runpy.run_path({!r}, run_name='__main__')"
        )
        with Session(sys.executable, "-c", pretend.format(str(FOLDER / "taskscale_probe" / "__main__.py"))) as session:
            reply = session.describe()
            self.assertTrue(reply["missing"])
            self.assertIn("needs Python 3.8 or later, this is 3.6.15", reply["message"])
            session.process.stdin.write(b'{"type":"exit"}\n')
            self.assertEqual(session.end(), (b"", 0))

    def test_a_probe_of_your_own_is_a_few_lines(self):
        text = (
            "from taskscale_probe.sdk import serve, variant\n"
            "@variant('nop', 'call')\n"
            "def call(run):\n"
            "    print('not for the protocol')\n"
            "    return run.time(lambda phases: sum(1 for _ in range(run.size)))\n"
            "@variant('nop', 'fail')\n"
            "def fail(run):\n"
            "    raise KeyError('at sea')\n"
            "serve('mine', '1.0')\n"
        )
        path = os.pathsep.join(filter(None, [str(FOLDER), os.environ.get("PYTHONPATH")]))
        with Session(sys.executable, "-c", text, env=dict(os.environ, PYTHONPATH=path)) as session:
            self.assertEqual(session.run("nop", "call", 9, 4)["answer"], 36)
            self.assertEqual(session.run("nop", "fail")["message"], "KeyError: 'at sea'")
            self.assertEqual(session.run("nop", "call", 9, 1)["answer"], 9)


if __name__ == "__main__":
    unittest.main()
