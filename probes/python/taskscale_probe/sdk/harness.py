"""Functions that were written for pytest-benchmark, performed as they are."""


class Benchmark:
    """Stands for the fixture `benchmark`: a call of it times what it is given, `iterations` times, and gives back what that
    returned last. The answer of each iteration is 1: what is right, the function asserts itself. Settings of the fixture's
    own, such as `rounds`, are passed over: the tool chooses."""

    def __init__(self, run):
        self.run, self.timing, self.result = run, None, None
        self.group, self.extra_info = None, {}

    def __call__(self, function, *args, **kwargs):
        return self._taken(self.run.time(lambda _phases: self._call(function, args, kwargs)))

    def pedantic(self, target, args=(), kwargs=None, setup=None, teardown=None, **_settings):
        if setup is None and teardown is None:
            return self(target, *args, **(kwargs or {}))
        made = lambda: (setup and setup()) or (args, kwargs or {})
        one = lambda _phases, made: self._call(target, *made)
        end = lambda made: teardown and teardown(*made[0], **made[1])
        return self._taken(self.run.time_each(made, one, end))

    def _call(self, function, args, kwargs):
        self.result = function(*args, **kwargs)
        return 1

    def _taken(self, timing):
        self.timing = timing
        return self.result


def performed(run, test, *args, **kwargs):
    """What `test(benchmark, *args, **kwargs)` gave to its `benchmark`, timed."""
    benchmark = Benchmark(run)
    test(benchmark, *args, **kwargs)
    if benchmark.timing is None:
        raise ValueError(f"{getattr(test, '__name__', test)} never called its benchmark")
    return benchmark.timing
