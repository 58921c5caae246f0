"""The timed loop: one pair of clock readings around all iterations, and nothing inside that a hand-written loop
would not have. The wall clock is read outermost, so that CPU time never exceeds wall time times cores."""

from .clock import cpu_ns, wall_ns

WORD = 2**64  # answers are modulo this


class Timed:
    """The two timed loops of a `Run`."""

    def time(self, one):
        """Times `iterations` calls of `one(phases)`, which does the workload once and returns its answer."""
        phases = Phases() if self.phases else NoPhases()
        wall, cpu = wall_ns(), cpu_ns()
        answer = 0
        for _ in range(self.iterations):
            phases.begin()
            answer += one(phases)
            phases.end()
        cpu_end, wall_end = cpu_ns(), wall_ns()
        return dict(wall_ns=wall_end - wall, cpu_ns=cpu_end - cpu, answer=answer % WORD, extra=phases.extra())

    async def time_async(self, one):
        """As `time`, inside a loop that is already running; `one` is a coroutine function."""
        phases = Phases() if self.phases else NoPhases()
        wall, cpu = wall_ns(), cpu_ns()
        answer = 0
        for _ in range(self.iterations):
            phases.begin()
            answer += await one(phases)
            phases.end()
        cpu_end, wall_end = cpu_ns(), wall_ns()
        return dict(wall_ns=wall_end - wall, cpu_ns=cpu_end - cpu, answer=answer % WORD, extra=phases.extra())


class Phases:
    """The share of creation, summed over iterations."""

    def __init__(self):
        self.sum = None

    def created(self):
        """Says that the last task has just been started. Called more than once in an iteration (a windowed workload
        starts tasks until near its end), the last call counts."""
        self.mark = wall_ns(), cpu_ns()

    def begin(self):
        self.mark, self.begun = None, (wall_ns(), cpu_ns())

    def end(self):
        if self.mark:
            wall, cpu = self.sum or (0, 0)
            self.sum = wall + self.mark[0] - self.begun[0], cpu + self.mark[1] - self.begun[1]

    def extra(self):
        return dict(zip(("create_wall_ns", "create_cpu_ns"), self.sum or ()))


class NoPhases:
    """What stands there without `phases`: three empty calls per iteration, none per task."""

    def created(self):
        pass

    def begin(self):
        pass

    def end(self):
        pass

    def extra(self):
        return {}
