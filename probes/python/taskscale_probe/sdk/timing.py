"""The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop
would not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores."""

from .clock import cpu_ns, wall_ns
from .harness import performed

WORD = 2**64  # answers are modulo this


class Timed:
    """The timed loops of a `Run`."""

    def time(self, one):
        """Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer."""
        phases = Phases(self.phases)
        wall, cpu = wall_ns(), cpu_ns()
        answer = 0
        for _ in range(self.iterations):
            phases.begin()
            answer += one(phases)
        cpu_end, wall_end = cpu_ns(), wall_ns()
        return dict(wall_ns=wall_end - wall, cpu_ns=cpu_end - cpu, answer=answer % WORD, extra=phases.extra())

    async def time_async(self, one):
        """As `time`, inside a loop that is already running; `one` is a coroutine function."""
        phases = Phases(self.phases)
        wall, cpu = wall_ns(), cpu_ns()
        answer = 0
        for _ in range(self.iterations):
            phases.begin()
            answer += await one(phases)
        cpu_end, wall_end = cpu_ns(), wall_ns()
        return dict(wall_ns=wall_end - wall, cpu_ns=cpu_end - cpu, answer=answer % WORD, extra=phases.extra())

    def benchmark(self, test, *args, **kwargs):
        """Performs a function that was written for pytest-benchmark: times what `test(benchmark, ...)` gives to its
        `benchmark`. What the test does beside that is not timed."""
        return performed(self, test, *args, **kwargs)

    def time_each(self, setup, one, teardown=lambda made: None):
        """Times of each iteration `one(phases, made)` alone: `made` is what `setup()` gave, anew each time, and
        `teardown(made)` ends it. What both took is told beside. Clocks are read around each iteration, for some 0.5 us: let
        one take 50 us or more."""
        parts = Parts(self.phases)
        for _ in range(self.iterations):
            made = setup()
            parts.begin()
            parts.end(one(parts.phases, made))
            teardown(made)
        return parts.sample()

    async def time_each_async(self, setup, one, teardown=lambda made: None):
        """As `time_each`, inside a loop that is already running; `one` is a coroutine function, the others are none."""
        parts = Parts(self.phases)
        for _ in range(self.iterations):
            made = setup()
            parts.begin()
            parts.end(await one(parts.phases, made))
            teardown(made)
        return parts.sample()


class Parts:
    """The sum of the timed parts of a sample, and what all else took."""

    def __init__(self, phases):
        self.phases, self.answer, self.sums = Phases(phases), 0, [0, 0]
        self.first = self.before = wall_ns(), cpu_ns()

    def begin(self):
        self.before = wall_ns(), cpu_ns()
        self.phases.begin()

    def end(self, answer):
        cpu, wall = cpu_ns(), wall_ns()
        self.sums[0] += wall - self.before[0]
        self.sums[1] += cpu - self.before[1]
        self.answer += answer

    def add(self, part):
        """Takes in a sample of one iteration."""
        self.sums[0] += part["wall_ns"]
        self.sums[1] += part["cpu_ns"]
        self.answer += part["answer"]

    def sample(self):
        cpu, wall = cpu_ns(), wall_ns()
        rest = [wall - self.first[0] - self.sums[0], cpu - self.first[1] - self.sums[1]]
        told = dict(setup_wall_ns=max(rest[0], 0), setup_cpu_ns=max(rest[1], 0))
        times = dict(wall_ns=self.sums[0], cpu_ns=self.sums[1])
        return dict(times, answer=self.answer % WORD, extra={**self.phases.extra(), **told})


class Phases:
    """The share of creation, summed over iterations. Reads no clock unless the request has `phases`."""

    def __init__(self, on=False):
        self.on, self.sums, self.before = on, (0, 0), (0, 0)

    def created(self):
        """Says that the last task has just been started. Called more than once in an iteration (a windowed workload
        starts tasks until near its end), the last call counts."""
        if self.on:
            self.sums = wall_ns() - self.before[0], cpu_ns() - self.before[1]

    def begin(self):
        """Keeps what the clocks read, less the sums."""
        if self.on:
            self.before = wall_ns() - self.sums[0], cpu_ns() - self.sums[1]

    def extra(self):
        return dict(zip(("create_wall_ns", "create_cpu_ns"), self.sums)) if self.sums[0] else {}
