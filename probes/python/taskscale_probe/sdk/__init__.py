"""What a probe in Python needs besides its workloads: the loop of probe protocol 1, and the clocks.

Import it for a probe of your own. This is a whole one, and `taskscale probe check` accepts it:

    from concurrent.futures import ThreadPoolExecutor
    from taskscale_probe.sdk import serve, variant

    pool = ThreadPoolExecutor()

    @variant("nop", "submit")
    def submit(run):
        return run.time(lambda phases: sum(done.result() for done in [pool.submit(int, 1) for _ in range(run.size)]))

    serve("mypool", "1.0")

| module | holds |
|---|---|
| clock | the two clocks and how fine they are |
| describe | what a probe says of itself: runtime, workloads, parameters, variants |
| harness | functions of pytest-benchmark, performed as they are |
| request | a request, made into a Run |
| serve | one reply line per request line, until end of input |
| timing | the timed loop |
"""

from .describe import param, variant
from .request import Run
from .serve import serve, serve_missing
from .timing import Phases

__all__ = ["Phases", "Run", "param", "serve", "serve_missing", "variant"]
