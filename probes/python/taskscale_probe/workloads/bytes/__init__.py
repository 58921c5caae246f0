"""`bytes`: a file or a response of `size` bytes, read from its start to its end and summed up.

| module | holds |
|---|---|
| access | the loops over bytes: how each is looked at |
| fetch | how bytes come: whole, in chunks, or one by one |
| source | the file and the server |
| count | what an instrumented run counts |
"""

from importlib import import_module

from ...runtimes import drive, missing
from ...sdk import param, variant
from . import access, fetch
from .count import Count
from .source import asked

MIB = 1 << 20
# Bytes that wait for a call each, at 0.3 to 1 us: some 10 s a pass.
MOST = 16 * MIB
BOTH, FILE, HTTP = ["file", "http"], ["file"], ["http"]


def declare(runtime):
    """The workload `bytes`, which is asyncio's and of Python without a loop. Answer of an iteration: the sum."""
    if runtime != "asyncio":
        return
    where = "the file in the folder TASKSCALE_BYTES, or the response of the server TASKSCALE_BYTES_URL"
    param("bytes", "source", "file", where, choices=("file", "http"))
    modes = "sum8: the sum of all bytes modulo 256; fnv: FNV-1a of 64 bits; none: bytes are fetched and not looked at"
    param("bytes", "mode", "sum8", modes, choices=("sum8", "fnv", "none"))
    param("bytes", "chunk", 65536, "bytes of the buffer, of variants that read into one")
    for name, sources, way, modes, about in VARIANTS:
        only = {"source": sources, "mode": list(modes)}
        if not way.has_chunk:
            only["chunk"] = [65536]
        about = dict(about, unavailable=missing(way.package))
        variant("bytes", name, creates_task=False, only=only, **about)(performer(runtime, way, modes))


def performer(runtime, way, modes):
    """Does all iterations of a way inside the timed part, in a loop of asyncio where it needs one."""

    def perform(run):
        mode, chunk = run.params["mode"], run.params["chunk"]
        source, look = asked(run.params["source"], run.size), modes[mode]
        count = Count() if run.verify else None
        if count:
            look = count.counted(look)
        start, mask = STARTS[mode]
        if way.package:
            import_module(way.package)
        if way.is_async:

            async def turn(_phases):
                return await way(source, look, start, chunk) & mask

            timing = drive(runtime, lambda: run.time_async(turn))
        else:
            timing = run.time(lambda _phases: way(source, look, start, chunk) & mask)
        return count.report(run, timing) if count else timing

    return perform


# What a sum begins with, and the bits that are its answer.
STARTS = {"sum8": (0, 0xFF), "fnv": (access.FNV_START, access.FNV_MASK), "none": (0, access.FNV_MASK)}

FOR = {"sum8": access.sum8_for, "fnv": access.fnv_for}
INDEX = {"sum8": access.sum8_index, "fnv": access.fnv_index}
SUM = {"sum8": access.sum8_sum}
NONE = {"none": access.none}
READ_1 = {"sum8": access.sum8_read_1, "fnv": access.fnv_read_1}
ITER = {"sum8": access.sum8_iter, "fnv": access.fnv_iter}
READEXACTLY_1 = {"sum8": access.sum8_readexactly_1, "fnv": access.fnv_readexactly_1}

URLLIB = "http: urllib.request, which gives an http.client.HTTPResponse"
BY_SUM = "the built-in sum, a loop in C, which has no FNV"
BUFFERED = "open(path, 'rb') with its buffer of io.DEFAULT_BUFFER_SIZE"
THREAD = "each read is a call on a thread of the loop's pool"
CONNECTED = "asyncio.open_connection, the request and its head by hand"
SLOW = f"a wait for each byte: up to {MOST // MIB} MiB"

VARIANTS = [
    ("read/for", BOTH, fetch.read, FOR, dict(note=f"all bytes in one object; {URLLIB}")),
    ("read/sum", BOTH, fetch.read, SUM, dict(note=f"{BY_SUM}; {URLLIB}")),
    ("readinto/for", BOTH, fetch.readinto, FOR, dict(note=f"a memoryview of a bytearray, no buffer besides; {URLLIB}")),
    ("readinto/sum", BOTH, fetch.readinto, SUM, dict(note=f"a memoryview of a bytearray; {BY_SUM}; {URLLIB}")),
    ("readinto/none", BOTH, fetch.readinto, NONE, dict(note=f"the floor: what the others have before they look; {URLLIB}")),
    ("mmap/index", FILE, fetch.mapped, INDEX, dict(note="m[i]: an mmap that is iterated gives bytes objects")),
    ("mmap/sum", FILE, fetch.mapped_view, SUM, dict(note=f"a memoryview of the mapping; {BY_SUM}")),
    ("buffered/read(1)", FILE, fetch.buffered, READ_1, dict(note=BUFFERED)),
    ("buffered/iter", FILE, fetch.buffered, ITER, dict(note=f"iter(partial(file.read, 1), b''); {BUFFERED}")),
    ("aiofiles/for", FILE, fetch.aiofiles, FOR, dict(note=THREAD)),
    ("aiofiles/sum", FILE, fetch.aiofiles, SUM, dict(note=f"{THREAD}; {BY_SUM}")),
    ("StreamReader/for", HTTP, fetch.stream_reader, FOR, dict(note=CONNECTED)),
    ("StreamReader/sum", HTTP, fetch.stream_reader, SUM, dict(note=f"{CONNECTED}; {BY_SUM}")),
    (
        "StreamReader/readexactly(1)",
        HTTP,
        fetch.stream_reader_each,
        READEXACTLY_1,
        dict(max_size=MOST, note=f"{CONNECTED}; {SLOW}"),
    ),
    ("aiohttp/for", HTTP, fetch.aiohttp, FOR, dict(note="content.iter_chunked of a session for each pass")),
    ("aiohttp/sum", HTTP, fetch.aiohttp, SUM, dict(note=f"content.iter_chunked of a session for each pass; {BY_SUM}")),
]
