"""The runtimes: how each is found, and how it drives a coroutine to its end."""

import asyncio
import importlib.util
import os
import platform
import sys

RUNTIMES = ("asyncio", "uvloop", "trio", "anyio")
# The Python that brought what variants need of asyncio.
SINCE = {"to_thread": "3.9", "TaskGroup": "3.11", "timeout": "3.11", "eager_task_factory": "3.12"}


def version_of(runtime):
    """The version of `runtime`; raises `ImportError` where it is not installed."""
    if runtime == "asyncio":
        return platform.python_version()
    __import__(runtime)
    from importlib.metadata import version

    return version(runtime)


def drive(runtime, main, eager=False):
    """Runs the coroutine function `main` in a fresh loop, made before it and closed after it. `eager` starts tasks of
    asyncio at their creation."""
    if runtime == "trio":
        import trio

        return trio.run(main)
    if runtime == "anyio":
        import anyio

        return anyio.run(main)
    loop, coroutine = new_event_loop(runtime), main()
    try:
        if eager:
            loop.set_task_factory(asyncio.eager_task_factory)
        return loop.run_until_complete(coroutine)
    finally:
        coroutine.close()  # for a loop that could not even start it
        loop.close()


def new_event_loop(runtime):
    """A loop of asyncio or of uvloop."""
    if runtime == "uvloop":
        import uvloop

        return uvloop.new_event_loop()
    return asyncio.new_event_loop()


def remaining_tasks(runtime):
    """How many tasks the running loop has besides the one that asks."""
    if runtime == "trio":
        import trio

        nurseries = trio.lowlevel.current_task().child_nurseries
        return sum(len(nursery.child_tasks) for nursery in nurseries)
    if runtime == "anyio":
        import anyio

        return len(anyio.get_running_tasks()) - 1
    return len(asyncio.all_tasks()) - 1


def unavailable(runtime, needs):
    """Why a variant that needs asyncio's `needs` is not to be had here; None where it is."""
    if needs is None:
        return None
    if not hasattr(asyncio, needs):
        version = SINCE[needs]
        return {"reason": f"needs Python {version}", "remedy": f"name a newer one: --runtime {runtime}@python{version}"}
    if needs == "eager_task_factory":
        try:
            drive(runtime, nothing, eager=True)
        except TypeError as error:
            # uvloop 0.23 hands `eager_start` to every factory, which that of Python 3.13.0 does not take.
            reason = f"{runtime} {version_of(runtime)} does not fit the eager factory of this Python: {error}"
            return {"reason": reason, "remedy": f"try another version of {runtime} or Python, or --runtime asyncio"}
    return None


def missing(package):
    """Why a package is not to be had here; None where it is, or where none is asked for. It is looked for among those that
    `taskscale setup` installed too, which come last: all else is imported from where it was without them."""
    folder = os.environ.get("TASKSCALE_PACKAGES")
    if folder and folder not in sys.path:
        sys.path.append(folder)
    if package is None or importlib.util.find_spec(package):
        return None
    python = "this Python (%d.%d.%d, %s)" % (*sys.version_info[:3], sys.executable)
    remedy = f"taskscale setup python, or for this Python: python -m pip install {package}"
    return {"reason": f"{package} is not installed for {python}", "remedy": remedy}


async def nothing():
    """What a loop is tried with."""
