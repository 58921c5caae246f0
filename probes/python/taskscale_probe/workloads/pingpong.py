"""`pingpong`: `size` round trips of a token between the two tasks of a pair, over `pairs` pairs.

A task passes the token on and then waits until it comes back, so a round trip is two wake-ups. Whoever answers adds one to the
token, and whoever began counts the trip only if that was done."""

import asyncio

from ..runtimes import drive
from ..sdk import param, variant

LOOPS = ("asyncio", "uvloop")


def declare(runtime):
    """The workload `pingpong` with the variants of `runtime`. Answer of an iteration: the number of round trips."""
    param("pingpong", "pairs", 1, "pairs of tasks that share the round trips")
    param("pingpong", "workers", "one", "workers that run the tasks: a loop is one", choices=("one",))
    for name, runtimes, gathered, ends in FORMS:
        if runtime in runtimes:
            variant("pingpong", name)(performer(runtime, gathered, ends))


def performer(runtime, gathered, ends):
    """Does all iterations in one loop. `ends` gives the ends of a new pair, each a function that passes a token and one that
    waits for it; `gathered` starts tasks and gives what they returned."""

    def perform(run):
        pairs = run.params["pairs"]
        shares = [run.size // pairs + (pair < run.size % pairs) for pair in range(pairs)]

        async def one(_phases):
            tasks = []
            for trips in shares:
                first, second = ends()
                tasks += (pong, *second, trips), (ping, *first, trips)
            return await gathered(tasks)

        async def main():
            return await run.time_async(one)

        return drive(runtime, main)

    return perform


async def ping(give, take, trips):
    """The task that begins. Returns the number of trips from which the token came back as it should."""
    back = 0
    for token in range(trips):
        await give(token)
        back += await take() == token + 1
    return back


async def pong(give, take, trips):
    """The task that answers."""
    for _ in range(trips):
        token = await take()
        await give(token + 1)
    return 0


def crossed(make):
    """The ends of a pair, of two directions that `make` gives: what passes a token on, and what waits for it."""
    give_one, take_one = make()
    give_other, take_other = make()
    return (give_other, take_one), (give_one, take_other)


# --- asyncio and uvloop


async def created(tasks):
    create_task = asyncio.create_task
    started = [create_task(task(*rest)) for task, *rest in tasks]
    back = 0
    for task in started:
        back += await task
    return back


def queue():
    """An `asyncio.Queue` of one place."""
    made = asyncio.Queue(1)
    return made.put, made.get


class Event:
    """An `asyncio.Event` beside the token."""

    def __init__(self):
        self.event, self.token = asyncio.Event(), None

    async def give(self, token):
        self.token = token
        self.event.set()

    async def take(self):
        await self.event.wait()
        self.event.clear()
        return self.token


class Future:
    """A future for each token."""

    def __init__(self):
        self.future = asyncio.get_running_loop().create_future()

    async def give(self, token):
        self.future.set_result(token)

    async def take(self):
        token = await self.future
        self.future = self.future.get_loop().create_future()
        return token


def of(form):
    def make():
        made = form()
        return made.give, made.take

    return make


# --- trio and anyio


async def nursed(opening, tasks):
    back = 0

    async def counted(task, *rest):
        nonlocal back
        given = await task(*rest)  # others add to `back` meanwhile
        back += given

    async with opening as group:
        for task in tasks:
            group.start_soon(counted, *task)
    return back


async def nursery(tasks):
    import trio

    return await nursed(trio.open_nursery(), tasks)


async def task_group(tasks):
    import anyio

    return await nursed(anyio.create_task_group(), tasks)


def memory_channel():
    """A channel of trio without a buffer."""
    import trio

    sender, receiver = trio.open_memory_channel(0)
    return sender.send, receiver.receive


class TrioEvent:
    """An `Event` of trio for each token: it is set once."""

    def __init__(self):
        import trio

        self.make = trio.Event
        self.event, self.token = self.make(), None

    async def give(self, token):
        self.token = token
        self.event.set()

    async def take(self):
        await self.event.wait()
        self.event = self.make()
        return self.token


def memory_stream():
    """A stream of anyio without a buffer."""
    import anyio

    sender, receiver = anyio.create_memory_object_stream(0)
    return sender.send, receiver.receive


FORMS = (
    ("Queue", LOOPS, created, lambda: crossed(queue)),
    ("Event", LOOPS, created, lambda: crossed(of(Event))),
    ("Future", LOOPS, created, lambda: crossed(of(Future))),
    ("memory_channel", ["trio"], nursery, lambda: crossed(memory_channel)),
    ("Event", ["trio"], nursery, lambda: crossed(of(TrioEvent))),
    ("memory_object_stream", ["anyio"], task_group, lambda: crossed(memory_stream)),
)
