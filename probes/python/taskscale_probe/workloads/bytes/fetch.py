"""How bytes come. A way opens the source, hands what comes to `look`, which gives the sum so far, and closes the source."""

import asyncio
import mmap
import os


def way(has_chunk=False, is_async=False, package=None):
    """Says of a way whether it reads into a buffer of the request's size, needs a loop, and needs a package."""

    def declare(function):
        function.has_chunk, function.is_async, function.package = has_chunk, is_async, package
        return function

    return declare


@way()
def read(source, look, total, _chunk):
    """All bytes at once."""
    with source.open() as file:
        return look(total, file.read())


@way(has_chunk=True)
def readinto(source, look, total, chunk):
    """One buffer, filled again and again. A read may give less than there is room for."""
    view = memoryview(bytearray(chunk))
    with source.open(buffering=0) as file:
        while True:
            filled = file.readinto(view)
            if not filled:
                return total
            total = look(total, view[:filled])


@way()
def mapped(source, look, total, _chunk):
    """The file in the memory of the process, by index."""
    with source.open(buffering=0) as file:
        # An empty file cannot be mapped.
        if os.fstat(file.fileno()).st_size == 0:
            return total
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
            return look(total, mapping)


@way()
def mapped_view(source, look, total, _chunk):
    """The same through a memoryview, whose elements are integers."""

    def look_at_view(total, mapping):
        with memoryview(mapping) as view:
            return look(total, view)

    return mapped(source, look_at_view, total, _chunk)


@way()
def buffered(source, look, total, _chunk):
    """A buffered file, which `look` asks for each byte."""
    with source.open() as file:
        return look(total, file)


@way(has_chunk=True, is_async=True, package="aiofiles")
async def aiofiles(source, look, total, chunk):
    """A file whose methods run on a pool of threads."""
    from aiofiles import open

    async with open(source.path, "rb") as file:
        while True:
            data = await file.read(chunk)
            if not data:
                return total
            total = look(total, data)


@way(has_chunk=True, is_async=True)
async def stream_reader(source, look, total, chunk):
    """asyncio's own streams: chunks as they come, up to the size of the request's."""
    async with Response(source) as response:
        left = response.length
        while left:
            data = await response.reader.read(min(chunk, left))
            if not data:
                raise EOFError(f"{source.url} ended {left} bytes too early")
            left -= len(data)
            total = look(total, data)
    return total


@way(is_async=True)
async def stream_reader_each(source, look, total, _chunk):
    """asyncio's own streams, which `look` awaits for each byte."""
    async with Response(source) as response:
        return await look(total, response.reader, response.length)


class Response:
    """A connection on which a request was sent and the head of its response was read."""

    def __init__(self, source):
        self.source = source

    async def __aenter__(self):
        host, port, path = self.source.parts
        self.reader, self.writer = await asyncio.open_connection(host, port)
        request = f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n"
        self.writer.write(request.encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(":", 1) for line in head[1:] if line)
        if head[0].split()[1] != "200" or "content-length" not in fields:
            self.writer.close()
            raise OSError(f"{self.source.url} answered {head[0]!r}, {fields}; it needs status 200 and a length")
        self.length = int(fields["content-length"])
        return self

    async def __aexit__(self, *_):
        self.writer.close()
        await self.writer.wait_closed()


@way(has_chunk=True, is_async=True, package="aiohttp")
async def aiohttp(source, look, total, chunk):
    """aiohttp's client."""
    from aiohttp import ClientSession

    async with ClientSession(raise_for_status=True) as session:
        async with session.get(source.url) as response:
            async for data in response.content.iter_chunked(chunk):
                total = look(total, data)
    return total
