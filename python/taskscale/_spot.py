"""Where a thread is."""

from __future__ import annotations

import os
import sys
import sysconfig

#: Files of others: the standard library's, with what is installed beside it, and this package's.
_OTHERS = tuple({os.path.dirname(os.__file__), sysconfig.get_path("purelib"), os.path.dirname(__file__), "<frozen"})


def spot(ident: int) -> tuple[str, str, int]:
    """Function, file and line of a thread: the innermost in a file of the program's own; where there is none, the innermost."""
    innermost = frame = sys._current_frames()[ident]
    while frame.f_code.co_filename.startswith(_OTHERS):
        if frame.f_back is None:
            frame = innermost
            break
        frame = frame.f_back
    return frame.f_code.co_qualname, frame.f_code.co_filename, frame.f_lineno
