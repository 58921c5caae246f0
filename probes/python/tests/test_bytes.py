"""`bytes`: every variant against the published sums, on lengths around a buffer's, and on bytes that come in drips."""

import asyncio
import contextlib
import hashlib
import http.server
import os
import pathlib
import sys
import tempfile
import threading
import unittest
from types import SimpleNamespace

from test_probe import FOLDER, Session

sys.path.insert(0, str(FOLDER))

from taskscale_probe.runtimes import missing
from taskscale_probe.workloads import byte_stream
from taskscale_probe.workloads.bytes import access, fetch
from taskscale_probe.workloads.bytes.count import Count, Counted
from taskscale_probe.workloads.bytes.source import Source

# Length, sum8, FNV-1a and the start of the SHA-256, as published with the generator.
TRUTHS = (
    (8, 221, 0xFC3775C20640340C, "09d257170e76614b"),
    (65_536, 214, 0x361CE99EE50D834F, "21acd40c18c329e1"),
    (1_048_576, 38, 0xE5D2EE95AB2A6E4B, "80c44bce2a8a3a5d"),
)
CHUNK = 65_536
MASK = 2**64 - 1


def content(length):
    """The words of xoshiro256**, least byte first, whose state is four outputs of splitmix64 from the seed 42."""

    def splitmix(s):
        z = (s + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    def rotl(x, k):
        return ((x << k) | (x >> (64 - k))) & MASK

    a, b, c, d = (splitmix((42 + j * 0x9E3779B97F4A7C15) & MASK) for j in range(4))
    words = []
    for _ in range((length + 7) // 8):
        words.append(((rotl((b * 5) & MASK, 7) * 9) & MASK).to_bytes(8, "little"))
        t = (b << 17) & MASK
        c, d = c ^ a, d ^ b
        b, a = b ^ c, a ^ d
        c, d = c ^ t, rotl(d, 45)
    return b"".join(words)[:length]


def sums(data):
    """Both sums, computed in another way: sum8 from a histogram, FNV by shifts."""
    total = sum(byte * data.count(bytes([byte])) for byte in range(256)) % 256
    hashed = 14695981039346656037
    for byte in data:
        hashed ^= byte
        hashed = (hashed + (hashed << 1) + (hashed << 4) + (hashed << 5) + (hashed << 7) + (hashed << 8) + (hashed << 40)) & MASK
    return {"sum8": total, "fnv": hashed, "none": len(data)}


@contextlib.contextmanager
def server(folder, drip=None):
    """Serves the files of a folder; with `drip`, so many bytes at a time."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            data = (pathlib.Path(folder) / self.path[1:]).read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for at in range(0, len(data), drip or len(data) or 1):
                self.wfile.write(data[at : at + (drip or len(data))])
                self.wfile.flush()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.server_address[1]}"
        finally:
            listening.shutdown()
            thread.join()


def ways():
    """Every variant that can be had here: its name, its way, its modes, its sources."""
    for name, sources, way, modes, _ in byte_stream.VARIANTS:
        if missing(way.package) is None:
            yield name, way, modes, sources


def one_pass(way, source, look, mode, chunk=CHUNK):
    """One pass of a way, outside the probe."""
    start, mask = byte_stream.STARTS[mode]
    made = way(source, look, start, chunk)
    if way.is_async:
        loop = asyncio.new_event_loop()
        made = loop.run_until_complete(made)
        loop.run_until_complete(loop.shutdown_default_executor() if sys.version_info >= (3, 9) else asyncio.sleep(0))
        loop.close()
    return made & mask


class Bytes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, data, name=None):
        path = self.folder / (name or f"{len(data)}.bytes")
        path.write_bytes(data)
        return str(path)

    def test_the_content_and_the_sums_are_the_published_ones(self):
        for length, sum8, fnv, sha in TRUTHS:
            data = content(length)
            self.assertTrue(hashlib.sha256(data).hexdigest().startswith(sha), length)
            self.assertEqual(sums(data), {"sum8": sum8, "fnv": fnv, "none": length})

    def test_every_variant_gives_the_published_sums_and_counts_each_byte(self):
        for length, *_ in TRUTHS:
            self.write(content(length))
        with server(self.folder) as url:
            environment = dict(os.environ, TASKSCALE_BYTES=str(self.folder), TASKSCALE_BYTES_URL=url)
            with Session("asyncio", env=environment) as session:
                for name, _, modes, sources in ways():
                    for length, sum8, fnv, _ in TRUTHS:
                        for mode in modes:
                            right = {"sum8": sum8, "fnv": fnv, "none": length}[mode]
                            for source in sources:
                                # A megabyte is read once, in a timed run.
                                for verify in (False, True)[: 2 if length < 2**20 else 1]:
                                    params = dict(mode=mode, source=source, verify=verify)
                                    times = 2 if length < 2**20 else 1
                                    sample = session.run("bytes", name, length, times, **params)
                                    case = f"{name} {length} {params}: {sample}"
                                    self.assertEqual(sample.get("answer"), times * right & MASK, case)
                                    counted = {"executed": times * length} if verify else None
                                    self.assertEqual(sample.get("extra"), counted, case)
                self.assertEqual(session.end(), (b"", 0))
                self.assertEqual(session.complaints, b"")

    def test_lengths_around_a_buffer(self):
        with server(self.folder) as url:
            for length in (0, 1, CHUNK - 1, CHUNK + 1):
                data = content(length)
                path, right = self.write(data), sums(data)
                for name, way, modes, sources in ways():
                    for kind in sources:
                        source = Source(path) if kind == "file" else Source(url=f"{url}/{length}.bytes")
                        for mode, look in modes.items():
                            self.assertEqual(one_pass(way, source, look, mode), right[mode], f"{name} {kind} {length} {mode}")

    def test_reads_that_give_less_than_was_asked_for(self):
        data = content(CHUNK + 1)
        right, pipe = sums(data), str(self.folder / "pipe")
        os.mkfifo(pipe)
        self.write(data)

        def drip():
            with open(pipe, "wb", buffering=0) as file:
                for at in range(0, len(data), 5000):
                    file.write(data[at : at + 5000])

        with server(self.folder, drip=5000) as url:
            for name, way, modes, sources in ways():
                for kind in sources:
                    if way in (fetch.mapped, fetch.mapped_view):
                        continue  # Nothing is read.
                    for mode, look in modes.items():
                        source = Source(pipe) if kind == "file" else Source(url=f"{url}/{len(data)}.bytes")
                        writer = threading.Thread(target=drip) if kind == "file" else None
                        if writer:
                            writer.start()
                        got = one_pass(way, source, look, mode)
                        if writer:
                            writer.join()
                        self.assertEqual(got, right[mode], f"{name} {kind} {mode}")

    def test_two_swapped_bytes_are_another_fnv(self):
        data = bytearray(content(CHUNK))
        right = sums(data)
        data[9], data[10] = data[10], data[9]
        self.assertNotEqual(data[9], data[10])
        path = self.write(data)
        for name, way, modes, sources in ways():
            if "file" in sources:
                for mode, look in modes.items():
                    got = one_pass(way, Source(path), look, mode)
                    self.assertEqual(got == right[mode], mode != "fnv", f"{name} {mode}")

    def test_a_response_that_ends_too_early_is_an_error(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", "100")
                self.end_headers()
                self.wfile.write(bytes(99))

            def log_message(self, *_):
                pass

        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
            thread = threading.Thread(target=listening.serve_forever)
            thread.start()
            url = f"http://127.0.0.1:{listening.server_address[1]}"
            with Session("asyncio", env=dict(os.environ, TASKSCALE_BYTES_URL=url)) as session:
                for name, way, modes, sources in ways():
                    if "http" in sources:
                        reply = session.run("bytes", name, 100, source="http", mode=list(modes)[0], verify=True)
                        self.assertEqual(reply["type"], "error", f"{name}: {reply}")
            listening.shutdown()
            thread.join()

    def test_a_byte_that_was_not_looked_at_is_found(self):
        count = Count()
        half = count.counted(lambda total, data: total + sum(data[i] for i in range(len(data) // 2)))
        half(0, bytes(10))
        run = SimpleNamespace(size=10, iterations=1)
        with self.assertRaisesRegex(RuntimeError, "5 bytes were consumed, 10 were asked for"):
            count.report(run, {"extra": {}})

    def test_loops_over_what_counts_are_those_over_bytes(self):
        data, count = content(1000), Count()
        for look in (access.sum8_for, access.fnv_for, access.sum8_index, access.fnv_index, access.sum8_sum):
            before = count.bytes
            self.assertEqual(look(7, Counted(data, count)), look(7, data), look.__name__)
            self.assertEqual(count.bytes - before, 1000, look.__name__)

    def test_what_is_not_in_the_environment_is_named(self):
        bare = {name: value for name, value in os.environ.items() if not name.startswith("TASKSCALE_BYTES")}
        with Session("asyncio", env=bare) as session:
            for source, name in (("file", "TASKSCALE_BYTES"), ("http", "TASKSCALE_BYTES_URL")):
                reply = session.run("bytes", "read/for", 8, source=source)
                self.assertEqual(reply["type"], "error")
                self.assertRegex(reply["message"], f"^{name} is not set: .* 8.bytes is")
            self.assertIn("unknown workload", session.run("bites", "read/for")["message"])
        with Session("asyncio", env=dict(bare, TASKSCALE_BYTES=str(self.folder))) as session:
            self.assertIn("8.bytes", session.run("bytes", "read/for", 8)["message"])

    def test_packages_that_are_missing_have_a_remedy(self):
        with Session(sys.executable, "-S", str(FOLDER / "taskscale_probe"), "asyncio") as session:
            (declared,) = [one for one in session.describe()["workloads"] if one["name"] == "bytes"]
        absent = {one["name"]: one["unavailable"] for one in declared["variants"] if "unavailable" in one}
        self.assertEqual(sorted(absent), ["aiofiles/for", "aiofiles/sum", "aiohttp/for", "aiohttp/sum"])
        self.assertIn("pip install aiofiles", absent["aiofiles/sum"]["remedy"])


if __name__ == "__main__":
    unittest.main()
