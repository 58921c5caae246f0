"""`interp` over HTTP: what a server says to the tool, what it answers, and what is missing without aiohttp."""

import asyncio
import http.client
import os
import pathlib
import sys
import tempfile
import unittest
from types import SimpleNamespace

from test_interp import counts
from test_probe import FOLDER, Session, variants

sys.path.insert(0, str(FOLDER))

from taskscale_probe.workloads import interp
from taskscale_probe.workloads.interp import http as served
from taskscale_probe.workloads.interp.program import output

HERE = served.unavailable() is None


class Served:
    """A server under way."""

    def __init__(self, session, variant, **params):
        self.session = session
        self.serving = session.run("interp", variant, 3, 1, **dict(dict(mode="http-closed"), **params))
        assert self.serving["type"] == "serving", self.serving
        self.connection = http.client.HTTPConnection("127.0.0.1", self.serving["port"], timeout=60)

    def get(self):
        self.connection.request("GET", "/")
        response = self.connection.getresponse()
        return response.status, response.getheader("Content-Length"), response.read()

    def say(self, kind):
        return self.session.ask({"type": kind, "id": 7})


class Server(unittest.TestCase):
    def setUp(self):
        if not HERE:
            self.skipTest("aiohttp is not installed for this Python")

    def test_every_variant_answers_the_right_bytes_and_counts_those_since_begin(self):
        with Session() as session:
            names = [one["name"] for one in variants(session.describe(), "interp")]
            self.assertEqual(names[-1], "constant")
            for name in names:
                for verify in (False, True):
                    server = Served(session, name, verify=verify, pause=6)
                    self.assertRegex(server.serving["server"], r"^aiohttp \d")
                    self.assertEqual((server.serving["id"], server.serving["port"] > 0), (7, True))
                    if not verify:
                        server.get()
                    self.assertEqual(server.say("begin"), {"type": "began", "id": 7})
                    for _ in range(3):
                        # On one connection, which stays open.
                        self.assertEqual(server.get(), (200, "614", output().encode()), name)
                    sample = server.say("stop")
                    server.connection.close()
                    self.assertEqual((sample["type"], sample["id"], sample["answer"]), ("sample", 7, 3), name)
                    self.assertTrue(0 < sample["cpu_ns"] and 0 < sample["wall_ns"], sample)
                    right = dict(counts(3), suspended=18) if verify and name != "constant" else None
                    self.assertEqual(sample.get("extra"), right, name)
            self.assertEqual(session.end(), (b"", 0))

    def test_another_line_is_refused_and_the_server_goes_on(self):
        with Session() as session:
            server = Served(session, "constant", depth=3)
            for line in (b"hello", b"[]", {"type": "describe", "protocol": 1}):
                said = session.ask(line)
                self.assertEqual((said["type"], said["message"]), ("error", "a server is running: say begin or stop"))
            server.say("begin")
            self.assertEqual(server.get(), (200, "1", b"1"))
            self.assertEqual(server.say("stop")["answer"], 1)
            server.connection.close()
            # The next request is one like any other.
            self.assertEqual(session.run("interp", "sync")["answer"], 7)

    def test_a_wrong_output_is_told_in_the_response_and_at_the_end(self):
        async def wrong():
            interp.judge(b"[1]")([2])

        server = served.Server(b"[1]", wrong)
        told = {}

        def tool(_id, port, _server):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request("GET", "/")
            response = connection.getresponse()
            told.update(status=response.status, said=response.read().decode())
            connection.close()
            return dict(answer=server.answered, extra={})

        server.served = tool
        loop = asyncio.new_event_loop()
        timing = loop.run_until_complete(server.main(SimpleNamespace(id=1)))
        loop.close()
        self.assertEqual((told["status"], timing["answer"]), (500, 0))
        self.assertIn("differs from byte 1 on", told["said"])
        self.assertEqual(server.wrong, told["said"])


class Missing(unittest.TestCase):
    def test_without_aiohttp_the_modes_are_named_with_reason_and_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            code = (
                "import sys; sys.path = [%r] + [one for one in sys.path if 'packages' not in one]; "
                "from taskscale_probe.main import main; sys.exit(main('asyncio'))"
            )
            environment = {name: value for name, value in os.environ.items() if name != "TASKSCALE_PACKAGES"}
            command = (sys.executable, "-c", code % str(FOLDER))
            with Session(*command, env=environment, cwd=folder) as session:
                (declared,) = [one for one in session.describe()["workloads"] if one["name"] == "interp"]
                (mode,) = [one for one in declared["params"] if one["name"] == "mode"]
                self.assertEqual(mode["choices"], ["inproc"])
                self.assertEqual(sorted(mode["unavailable"]), ["http-closed", "http-open"])
                self.assertIn("aiohttp is not installed", mode["unavailable"]["http-open"]["reason"])
                self.assertIn("pip install aiohttp", mode["unavailable"]["http-open"]["remedy"])
                (constant,) = [one for one in declared["variants"] if one["name"] == "constant"]
                self.assertEqual(constant["unavailable"], mode["unavailable"]["http-open"])

    def test_packages_of_the_tool_come_last(self):
        before, folder = list(sys.path), str(pathlib.Path("nowhere").absolute())
        os.environ["TASKSCALE_PACKAGES"] = folder
        try:
            served.unavailable()
            self.assertEqual(sys.path, before + [folder])
        finally:
            sys.path[:] = before
            del os.environ["TASKSCALE_PACKAGES"]


if __name__ == "__main__":
    unittest.main()
