"""The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop
would not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores."""

from .clock import cpu_ns, wall_ns

WORD = 2**64  # answers are modulo this


class Timed:
    """The two timed loops of a `Run`."""

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
