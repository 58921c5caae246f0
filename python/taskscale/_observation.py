"""What a user holds: ``observe()`` and what it saw."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from types import TracebackType
from typing import Any

from . import _patch
from ._taskscale import Recorder


@dataclass(frozen=True)
class Pattern:
    """An explanation of lost time; the first one of a digest is the diagnosis."""

    #: ``HEALTHY``, ``EVENT_LOOP_BLOCKED``, ``SCHEDULING_OVERHEAD`` ...
    name: str
    #: Share of workers x window that it accounts for.
    share: float
    #: The figures that speak for it.
    evidence: str
    #: What to change; empty where nothing is to be done.
    remedy: str
    #: Time now over time with the remedy applied: the least and the most to be expected.
    predicted: dict
    #: Time now over time without this loss, which no fix exceeds.
    bound: float
    #: The remedy as data: what to do (`do`) and how often; None where nothing is to be done.
    change: dict | None = None
    #: Names of the tasks that ran at the points of the loss (`name`, `share`), at most three.
    tasks: list = field(default_factory=list)
    #: The threads that ran them (`worker`, `share`, perhaps `thread`), at most three.
    threads: list = field(default_factory=list)
    #: Time ranges that hold most of the loss (`from_ns`, `to_ns`, `share`), at most three.
    when: list = field(default_factory=list)
    #: Whether the loss lies all along the window.
    all_along: bool = False


@dataclass(frozen=True)
class Blocked:
    """A place where steps of 100 ms or more held up an event loop."""

    #: Qualified name of the task's coroutine.
    coroutine: str
    #: The function that was running, its file and line.
    function: str
    file: str
    line: int
    #: How many steps, their time, and the longest of them, in nanoseconds.
    steps: int
    total_ns: int
    max_ns: int


@dataclass(frozen=True)
class Waits:
    """From the making of tasks (work items) to their first step, in nanoseconds; quantiles within 12.5 %."""

    count: int
    p50: int
    p99: int
    max: int


class _View:
    """A digest of one kind of workers."""

    _recorder: Recorder
    _of_pools: bool

    def text(self) -> str:
        """At most 2,048 bytes."""
        return self._recorder.text(self._of_pools)

    def json(self) -> str:
        """``taskscale.digest/1``."""
        return self._recorder.json(self._of_pools)

    def markdown(self) -> str:
        """Tables for a pull request."""
        return self._recorder.markdown(self._of_pools)

    def html(self) -> str:
        """A page of its own."""
        return self._recorder.html(self._of_pools)

    def data(self) -> dict[str, Any]:
        """:meth:`json` as objects."""
        data: dict[str, Any] = json.loads(self.json())
        return data

    @property
    def patterns(self) -> list[Pattern]:
        """Explanations by what fixing them wins; the first one is the diagnosis."""
        return [Pattern(**pattern) for pattern in self.data()["patterns"]]

    @property
    def tasks(self) -> int:
        """Tasks (work items) made."""
        return self._recorder.alive(self._of_pools)[0]

    @property
    def alive(self) -> int:
        """Those that have not ended yet."""
        return self._recorder.alive(self._of_pools)[1]

    @property
    def peak(self) -> int:
        """The most that were alive at once."""
        return self._recorder.alive(self._of_pools)[2]

    @property
    def first_step(self) -> Waits:
        """How long they waited for their first step."""
        return Waits(*self._recorder.delays(self._of_pools))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        # A page of its own has a style that must not become the notebook's.
        page = escape(self.html())
        style = "width:100%;height:45em;border:0"
        sandbox = "allow-scripts allow-downloads"
        return f'<iframe srcdoc="{page}" sandbox="{sandbox}" title="taskscale digest" style="{style}"></iframe>'


class Pools(_View):
    """What the threads of ``concurrent.futures`` pools did."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._of_pools = recorder, True

    def __repr__(self) -> str:
        return f"<taskscale.Pools of {self.tasks} work items>"


class Observation(_View):
    """What event loops do between :meth:`start` and :meth:`stop`, which ``with`` calls. It may be asked at any time.

    A step of a task is a span, a thread that runs event loops is a worker. With ``queue_delays`` it also takes how long each
    step waited in the queue of its loop, which costs 20 to 50 ns a task.
    """

    def __init__(self, *, queue_delays: bool = False) -> None:
        self._recorder, self._of_pools = Recorder(queue_delays=queue_delays), False
        #: What the threads of pools did.
        self.pools = Pools(self._recorder)

    def start(self) -> Observation:
        """Begins. RuntimeError where another observation is going on, or this one has ended."""
        self._recorder.start()
        _patch.install(self._recorder)
        return self

    def stop(self) -> None:
        """Ends; what was seen stays. Tasks that go on are not seen any more."""
        _patch.remove(self._recorder)
        self._recorder.stop()

    def clear(self) -> None:
        """Forgets what was seen so far."""
        self._recorder.clear()

    @property
    def blocked(self) -> list[Blocked]:
        """Where steps of 100 ms or more held up a loop, costliest first; at most eight places."""
        return [Blocked(**place) for place in self._recorder.blocked()]

    def __enter__(self) -> Observation:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __str__(self) -> str:
        # A program without event loops is about its pools.
        return self.pools.text() if self.tasks == 0 and self.pools.tasks > 0 else self.text()

    def __repr__(self) -> str:
        return f"<taskscale.Observation of {self.tasks} tasks: {self.patterns[0].name}>"


def observe(*, queue_delays: bool = False) -> Observation:
    """Observes event loops and thread pools of this process: ``with taskscale.observe() as d: ...``.

    With ``queue_delays`` the digest says how long steps waited in the queues of their loops (``_ready``), which are replaced
    meanwhile. How long work items of pools waited it says always.
    """
    return Observation(queue_delays=queue_delays)
