"""For each number on standard input, that many turns of one allocation, or of one system call: `known.py allocations|calls`."""

import os
import sys
from itertools import repeat

nowhere = os.open("/dev/null", os.O_WRONLY)


def call(turns):
    for _ in turns:
        os.write(nowhere, b"x")


def allocate(turns):
    # A list that is not empty is two blocks: the object and its items. Its object comes from CPython's free list.
    for _ in turns:
        [None]


# Numbers above 256 are objects themselves, so the turns are counted by what makes none.
work = call if sys.argv[1] == "calls" else allocate
for line in sys.stdin:
    work(repeat(None, int(line)))
    print("done", flush=True)
