"""`python -m taskscale_probe RUNTIME`, or `python /path/to/taskscale_probe RUNTIME`."""

# This file must be readable by every Python, so that an old one can say what it lacks.
import json
import os
import sys


def too_old():
    """Answers each request that this Python lacks something; what a probe does when its runtime is not here."""
    version = ".".join(str(number) for number in sys.version_info[:3])
    message = "the probe needs Python 3.8 or later, this is %s (%s); name another: --runtime asyncio@/path/to/python3"
    reply = json.dumps({"type": "error", "message": message % (version, sys.executable), "missing": True})
    for line in iter(sys.stdin.readline, ""):
        if '"exit"' in line:
            break
        sys.stdout.write(reply + "\n")
        sys.stdout.flush()
    return 0


def main():
    if sys.version_info < (3, 8):
        return too_old()
    if not __package__:
        # Run as a directory: that directory comes first on the path, where its modules would hide those of others.
        sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    from taskscale_probe.main import main as serve

    return serve(sys.argv[1] if len(sys.argv) > 1 else "")


if __name__ == "__main__":
    sys.exit(main())
