"""What an instrumented run counts. Never part of a run whose time is kept."""

import threading



class Count:
    """Executions, their results, and where and how many at once they were. For tasks of one thread only."""

    def __init__(self):
        self.total = self.sum = self.live = self.max_live = 0
        self.workers = set()

    def created(self):
        """A task has been created; to be called by its creator, before."""
        self.live += 1
        self.max_live = max(self.max_live, self.live)

    def executed(self, result):
        """A task has been done, with that result; to be called by the task, last."""
        self.sum += result
        self.total += 1
        self.workers.add(threading.get_ident())
        self.live -= 1

    def take_sum(self):
        """The sum of the results since it was last taken."""
        taken, self.sum = self.sum, 0
        return taken

    def report(self, run, timing):
        """Adds what was counted to `extra`, unless tasks are missing or too many."""
        expected = run.size * run.iterations
        if self.total != expected:
            raise RuntimeError(f"{self.total} tasks were executed, {expected} were asked for")
        timing["extra"].update(executed=self.total, max_live=self.max_live, workers_seen=len(self.workers))
        return timing
