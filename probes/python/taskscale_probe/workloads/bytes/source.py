"""Where the bytes are: the file and the server that the tool has made."""

import os
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, build_opener


class Source:
    """A file, or a response. Made before anything is timed."""

    def __init__(self, path=None, url=None):
        self.path, self.url = path, url
        if url:
            parts = urlsplit(url)
            self.parts = parts.hostname, parts.port, parts.path
            # A proxy of the environment has no business here.
            self.opener = build_opener(ProxyHandler({}))

    def open(self, **options):
        """A binary file of the bytes, or a response, which can be read in the same way."""
        return open(self.path, "rb", **options) if self.path else self.opener.open(self.url)


def asked(kind, size):
    """The file or the response of `size` bytes, where the environment says."""
    if kind == "file":
        return Source(path=os.path.join(said("TASKSCALE_BYTES", "the folder in which", size), f"{size}.bytes"))
    return Source(url=f"{said('TASKSCALE_BYTES_URL', 'the server from which', size)}/{size}.bytes")


def said(name, what, size):
    """The value of a variable of the environment."""
    if not os.environ.get(name):
        raise LookupError(f"{name} is not set: it names {what} {size}.bytes is; `taskscale run` sets it")
    return os.environ[name]
