"""What an instrumented run counts: bytes, where the loops look at them. The loops are those of a timed run."""

import inspect

from .access import none


class Count:
    """Bytes that were looked at."""

    def __init__(self):
        self.bytes = 0

    def counted(self, look):
        """The loop `look`, over something that counts what is taken from it."""
        if inspect.iscoroutinefunction(look):
            return lambda total, reader, length: look(total, Counted(reader, self), length)
        if look is none:
            return self.whole
        return lambda total, data: look(total, Counted(data, self))

    def whole(self, total, data):
        """In the place of the loop that looks at no byte."""
        self.bytes += len(data)
        return total + len(data)

    def report(self, run, timing):
        """Adds what was counted to `extra`, unless bytes are missing or too many."""
        expected = run.size * run.iterations
        if self.bytes != expected:
            raise RuntimeError(f"{self.bytes} bytes were consumed, {expected} were asked for")
        timing["extra"]["executed"] = self.bytes
        return timing


class Counted:
    """Bytes, a file or a reader. Each byte that it gives is counted."""

    def __init__(self, data, count):
        self.data, self.count = data, count

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        self.count.bytes += 1
        return self.data[i]

    def __iter__(self):
        for byte in self.data:
            self.count.bytes += 1
            yield byte

    def read(self, most):
        data = self.data.read(most)
        self.count.bytes += len(data)
        return data

    async def readexactly(self, length):
        data = await self.data.readexactly(length)
        self.count.bytes += len(data)
        return data
