"""A probe in a family, as wrapper scripts make one: a grandchild in a session of its own serves, and two daemons (fork,
setsid, fork, setsid) stay beside it, one of them with an empty environment.

    family.py MARK TASKSCALE

MARK stands in the command line or the environment of each, by which a test finds what is left.
"""

import os
import sys

MARK, TASKSCALE = sys.argv[1:3]


def daemon(environment):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.setsid()
            # A day: it must end by itself where nobody ends it.
            os.execve("/bin/sh", ["sh", "-c", "sleep 86400; : " + MARK], environment)
        os._exit(0)
    os.wait()


os.environ["FAMILY"] = MARK
daemon(dict(os.environ))
daemon({})
child = os.fork()
if child == 0:
    os.setsid()
    os.execv(TASKSCALE, [TASKSCALE, "probe", "serve", "tokio"])
os.waitpid(child, 0)
