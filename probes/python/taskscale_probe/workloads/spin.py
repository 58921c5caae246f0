"""`spin`: `size` steps of the kernel in one call. Tells how long a step takes, so that `work` can be chosen."""

from ..sdk import variant

MASK = 2**64 - 1


def declare(_runtime):
    """The workload `spin`. Answer of an iteration: `spin(seed, size)`."""
    note = "one call, no task"
    variant("spin", "loop", creates_task=False, note=note)(lambda run: run.time(lambda _: spin(run.seed, run.size)))


def spin(seed, steps):
    """`steps` dependent steps of `xorshift64`, started at `splitmix(seed)`. About 200 ns a step."""
    x = splitmix(seed)
    for _ in range(steps):
        x ^= x << 13 & MASK
        x ^= x >> 7
        x ^= x << 17 & MASK
    return x


def splitmix(seed):
    """`splitmix64`'s output function (Steele, Lea and Flood 2014; the constants are Stafford's mix 13)."""
    z = seed + 0x9E3779B97F4A7C15 & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)
