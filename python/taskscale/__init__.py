"""Where the time of asyncio's tasks went, and what to change: a digest of 2 kB, taken while the program runs.

>>> import asyncio, taskscale
>>> with taskscale.observe() as d:
...     asyncio.run(asyncio.sleep(0))
>>> print(d)  # doctest: +SKIP
"""

from ._load import Loaded, LoadError, load
from ._observation import Blocked, Observation, Pattern, Pools, Waits, observe

__all__ = ["Blocked", "LoadError", "Loaded", "Observation", "Pattern", "Pools", "Waits", "load", "observe"]
__version__ = "0.1.0"
