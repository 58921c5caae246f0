"""`workers`: threads that share the requests of each iteration, each with an event loop of its own. One thread at a time
runs Python's code where Python has its global lock; the free-threaded build has none."""

import asyncio
import threading
from queue import SimpleQueue

from ...runtimes import new_event_loop
from ...sdk.clock import wall_ns

MOST_WORKERS = 1000


def number(run):
    """How many loops answer requests: one where no worker is asked for."""
    asked = run.params["workers"]
    if asked > MOST_WORKERS:
        raise LookupError(f"workers is {asked}; give at most {MOST_WORKERS}")
    return max(asked, 1)


def shares(run):
    """How many requests of an iteration each worker answers."""
    all = number(run)
    return [run.size // all + (i < run.size % all) for i in range(all)]


def together(runtime, run, plans, plain, eager):
    """Has each worker answer its share of every iteration in a thread of its own, which waits between iterations. A plan is
    a number of requests and the function that answers them, a coroutine function unless they are `plain`."""
    workers = [Worker(runtime, share, plain, eager) for _, share in plans]
    try:
        for worker in workers:
            worker.thread.start()
        # A thread that has not begun yet is no part of the time.
        for worker in workers:
            worker.answers.get()

        def iteration(_phases):
            for worker in workers:
                worker.starts.put(True)
            return sum(worker.answers.get() for worker in workers)

        timing = run.time(iteration)
    finally:
        for worker in workers:
            worker.end()
    for worker in workers:
        if worker.wrong is not None:
            raise worker.wrong
    timing["extra"]["worker_requests"] = [run.iterations * requests for requests, _ in plans]
    timing["extra"]["worker_wall_ns"] = [worker.wall_ns for worker in workers]
    return timing


class Worker:
    """A thread that answers a share for each start, and tells that it is there before the first."""

    def __init__(self, runtime, share, plain, eager):
        self.starts, self.answers = SimpleQueue(), SimpleQueue()
        self.wall_ns, self.wrong = 0, None
        self.thread = threading.Thread(target=self.run, args=(runtime, share, plain, eager), daemon=True)

    def run(self, runtime, share, plain, eager):
        loop = None if plain else new_event_loop(runtime)
        if eager:
            loop.set_task_factory(asyncio.eager_task_factory)
        self.answers.put(0)
        while self.starts.get():
            began = wall_ns()
            right = 0
            try:
                right = loop.run_until_complete(share()) if loop else share()
            except Exception as error:
                self.wrong = self.wrong or error
            self.wall_ns += wall_ns() - began
            self.answers.put(right)
        if loop:
            loop.close()

    def end(self):
        self.starts.put(False)
        if self.thread.ident is not None:
            self.thread.join()
