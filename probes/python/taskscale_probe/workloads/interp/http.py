"""`mode` http-closed and http-open: a server of aiohttp, whose every GET evaluates a request."""

import asyncio
import json
import socket
import sys

from ...runtimes import drive, missing
from ...sdk.clock import cpu_ns, wall_ns
from ...sdk.describe import PROTOCOL

MODES = ("http-closed", "http-open")


def unavailable():
    """Why there is no server here; None where there is one."""
    return missing("aiohttp")


def serve(run, runtime, right, answer, eager=False):
    """Serves until the tool says stop. `answer` is a coroutine function that makes one request, and raises what is
    wrong with its output."""
    server = Server(right, answer)
    timing = drive(runtime, lambda: server.main(run), eager)
    if server.wrong:
        raise LookupError(server.wrong)
    return timing


class Server:
    """A server under way. `answered` counts right responses since the timed part began."""

    def __init__(self, right, answer):
        self.right, self.answer = right, answer
        self.answered, self.wrong = 0, None

    async def main(self, run):
        from aiohttp import __version__, web

        async def handle(_request):
            try:
                await self.answer()
            except Exception as error:
                self.wrong = self.wrong or str(error)
                return web.Response(status=500, text=self.wrong)
            self.answered += 1
            return web.Response(body=self.right)

        app = web.Application()
        app.router.add_get("/", handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        with socket.create_server(("127.0.0.1", 0), backlog=128) as listener:
            await web.SockSite(runner, listener).start()
            port = listener.getsockname()[1]
            loop = asyncio.get_running_loop()
            # The tool's lines are waited for on a thread beside the loop.
            timing = await loop.run_in_executor(None, self.served, run.id, port, "aiohttp %s" % __version__)
            await runner.cleanup()
        return timing

    def served(self, id, port, server):
        """Says that it listens, and waits until the tool stops it."""
        say({"type": "serving", "id": id, "port": port, "server": server})
        wall, cpu = wall_ns(), cpu_ns()
        for line in iter(sys.stdin.buffer.readline, b""):
            kind = kind_of(line)
            if kind == "begin":
                self.answered = 0
                wall, cpu = wall_ns(), cpu_ns()
                say({"type": "began", "id": id})
            elif kind == "stop":
                cpu_end, wall_end = cpu_ns(), wall_ns()
                return dict(wall_ns=wall_end - wall, cpu_ns=cpu_end - cpu, answer=self.answered, extra={})
            else:
                say({"type": "error", "message": "a server is running: say begin or stop", "protocol": PROTOCOL})
        raise LookupError("the tool is gone")


def kind_of(line):
    try:
        return json.loads(line)["type"]
    except (ValueError, LookupError, TypeError):
        return None


def say(reply):
    # The SDK has put standard error in the place of standard output.
    sys.__stdout__.write(json.dumps(reply) + "\n")
    sys.__stdout__.flush()
