"""What the interpreter itself counts, and what reads it. Its objects come from malloc where the tool says so by
PYTHONMALLOC, and are counted there."""

import contextlib
import gc

from .clock import wall_ns

HOOKS = "gc.callbacks"

COUNTERS = {"collections": HOOKS, "pause_ns": HOOKS} if hasattr(gc, "callbacks") else {}


@contextlib.contextmanager
def counted(asked):
    """Counts the collector's runs where `asked` is "collector"; the counts are there when the block ends."""
    counts = {}
    if asked != "collector":
        yield counts
        return
    since, seen = [0], [0, 0]

    def hook(phase, _):
        if phase == "start":
            since[0] = wall_ns()
        else:
            seen[0] += 1
            seen[1] += wall_ns() - since[0]

    gc.callbacks.append(hook)
    try:
        yield counts
    finally:
        gc.callbacks.remove(hook)
    counts["counters"] = {"collections": seen[0], "pause_ns": seen[1]}
