"""Types a line into a shell on a terminal of its own, and prints what stands on the terminal: type.py LINE SHELL [ARGUMENTS..]

`^I` in the line is the TAB key. The shell is ready when it prints `ready> `, its prompt; it has answered when it has been silent for
a while.
"""

import os
import pty
import select
import signal
import sys
import time

PROMPT = b"ready> "
# A shell that says nothing for so long has nothing more to say; one that says nothing at all is stopped.
SILENT_S, MOST_S = 1.5, 60


def read(terminal, until=None):
    """What comes until `until` is there, or else until there is silence behind the first byte."""
    seen, end = b"", time.monotonic() + MOST_S
    while time.monotonic() < end:
        wait = SILENT_S if seen and not until else max(0, end - time.monotonic())
        if not select.select([terminal], [], [], wait)[0]:
            break
        try:
            more = os.read(terminal, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
        if until and until in seen:
            break
    return seen


def main():
    line, command = sys.argv[1], sys.argv[2:]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", COLUMNS="200", LINES="50", PS1=PROMPT.decode(), PROMPT=PROMPT.decode())
        os.execvp(command[0], command)
    try:
        before = read(terminal, PROMPT)
        if PROMPT not in before:
            sys.exit(f"{command[0]} never became ready: {before!r}")
        for key in line.replace("^I", "\t").split("\n"):
            os.write(terminal, key.encode())
        sys.stdout.write(read(terminal).decode(errors="replace"))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


main()
