"""What is replaced in the standard library while tasks are observed, and put back afterwards.

``create_task`` of the classes of event loops, so that loops that run already, loops of other threads and loops to come are
all seen, and task factories stay the program's own; and ``ThreadPoolExecutor.submit``. ``gc.callbacks`` gets one more, by which the
collector learns of the objects around coroutines. Where queue delays are asked for, the native half also replaces ``_ready`` of loops
on which tasks are made, by a deque that remembers when handles came.
"""

from __future__ import annotations

import asyncio
import asyncio.base_events
import atexit
import contextlib
import functools
import gc
import inspect
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable

from . import _taskscale
from ._taskscale import Recorder

#: What is patched: owner, name, what is there now, and what was its own before (None: it inherited).
_patches: list[tuple[type, str, Any, Any]] = []
_recorder: Recorder | None = None


def install(recorder: Recorder) -> None:
    """Replaces. Another installation must have been removed before."""
    global _recorder
    _recorder = recorder
    _once()
    _replace(asyncio.BaseEventLoop, "create_task", _of_base_event_loop(asyncio.BaseEventLoop.create_task))
    for cls in asyncio.AbstractEventLoop.__subclasses__():
        _observe_class(cls)
    _replace(asyncio.AbstractEventLoop, "__init_subclass__", classmethod(_on_new_class))
    _replace(ThreadPoolExecutor, "submit", _submit(ThreadPoolExecutor.submit))
    gc.callbacks.append(_taskscale.collecting)


def remove(recorder: Recorder) -> None:
    """Puts back what :func:`install` replaced for this recorder; what someone else has replaced since stays theirs."""
    global _recorder
    if _recorder is not recorder:
        return
    _recorder = None
    with contextlib.suppress(ValueError):
        gc.callbacks.remove(_taskscale.collecting)
    while _patches:
        owner, name, ours, before = _patches.pop()
        if vars(owner).get(name) is ours:
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)


@functools.lru_cache(maxsize=None)
def _once() -> None:
    atexit.register(_at_exit)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_before_fork)


def _at_exit() -> None:
    # The interpreter must not end under a thread that asks for it.
    recorder = _recorder
    if recorder is not None:
        remove(recorder)
        recorder.stop()


def _before_fork() -> None:
    if _recorder is not None:
        _recorder.before_fork()


def _replace(owner: type, name: str, new: Any) -> None:
    before = vars(owner).get(name)
    setattr(owner, name, new)
    _patches.append((owner, name, new, before))


@functools.lru_cache(maxsize=1)
def _of_base_event_loop(original: Callable[..., Any]) -> Any:
    # What another tool has put there must be called each time; the standard library's own need not be.
    code = getattr(original, "__code__", None)
    plain = code is not None and code.co_filename == asyncio.base_events.__file__
    return _taskscale.create_task_method(asyncio.BaseEventLoop, original, plain)


def _on_new_class(cls: type[asyncio.AbstractEventLoop], /, **keywords: Any) -> None:
    super(asyncio.AbstractEventLoop, cls).__init_subclass__(**keywords)
    if _recorder is not None and asyncio.AbstractEventLoop in cls.__bases__:
        _observe_class(cls)


def _observe_class(cls: type) -> None:
    """Loops that are not made of ``BaseEventLoop``, as uvloop's."""
    original = inspect.getattr_static(cls, "create_task", None)
    if issubclass(cls, asyncio.BaseEventLoop) or original is asyncio.AbstractEventLoop.__dict__["create_task"]:
        return
    inherited: Callable[..., Any] = getattr(cls, "create_task")

    @functools.wraps(inherited)
    def create_task(self: Any, coro: Any, *arguments: Any, **keywords: Any) -> Any:
        return inherited(self, _taskscale.observed(coro), *arguments, **keywords)

    _replace(cls, "create_task", create_task)


def _submit(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def submit(self: Any, fn: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Future[Any]:
        recorder = _recorder
        if recorder is not None:
            fn = recorder.work(fn)
        future: Future[Any] = original(self, fn, *arguments, **keywords)
        return future

    return submit
