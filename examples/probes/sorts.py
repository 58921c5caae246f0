"""Code that is no task, weighed: two ways of sorting n numbers. taskscale run --probe sorts.py"""

import platform

from taskscale_probe.sdk import serve, variant


def checksum(numbers):
    """A number that follows from the work: another order gives another one. The ways are held to each other by it."""
    return sum(place * number for place, number in enumerate(numbers, 1))


def drawn(seed, n):
    """The same n numbers for the same seed, in every way of doing it: Knuth's generator for MMIX, its upper bits."""
    numbers = []
    for _ in range(n):
        seed = (6364136223846793005 * seed + 1442695040888963407) % 2**64
        numbers.append(1 + (seed >> 44))
    return numbers


def weigh(name, ordered):
    @variant("sort", name, creates_task=False)
    def perform(run):
        numbers = drawn(run.seed, run.size)  # out here nothing is timed
        return run.time(lambda _phases: checksum(ordered(numbers)))


def by_insertion(numbers):
    done = []
    for number in numbers:
        place = len(done)
        while place and done[place - 1] > number:
            place -= 1
        done.insert(place, number)
    return done


weigh("sorted", sorted)
weigh("by_insertion", by_insertion)
serve("sorts", platform.python_version())
