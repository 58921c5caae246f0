"""What an instrumented run counts. A timed run evaluates with the nodes as they are; this makes subclasses of them that
count and else do the same."""

import asyncio
import inspect



class Once:
    """A result that can be used once. Counts its uses."""

    __slots__ = ("count", "awaitable", "used")

    def __init__(self, count, awaitable):
        self.count, self.awaitable, self.used = count, awaitable, False
        count.made += 1

    def __await__(self):
        if self.used:
            self.count.again += 1
            return None
        self.used = True
        self.count.used += 1
        return (yield from self.awaitable.__await__())


class Count:
    """The counts of a run."""

    def __init__(self):
        self.nodes = self.builtins = self.applications = self.suspended = 0
        self.live = self.deepest = self.order = self.output = 0
        self.made = self.used = self.again = 0
        # Cells of the environment, in which nodes were seen to be evaluated. Being kept they keep their ids.
        self.cells, self.extensions = {}, 0
        self.log = []

    def request(self):
        """A request begins."""
        self.log = []
        self.extensions += len(self.cells)
        self.cells = {}

    def entered(self, env):
        self.nodes += 1
        self.live += 1
        self.deepest = max(self.deepest, self.live)
        if env is not None:
            self.cells[id(env)] = env

    def left(self):
        self.live -= 1

    def begins(self, element):
        self.applications += 1
        self.log.append("B %s\n" % element)

    def has_value(self, element):
        self.log.append("E %s\n" % element)

    def once(self, awaitable):
        return Once(self, awaitable)

    async def suspend(self, pause):
        """Awaits `pause`, and counts it where the loop did something else in between."""
        others = []
        asyncio.get_running_loop().call_soon(others.append, True)
        await pause
        self.suspended += bool(others)

    def answered(self, output):
        """A request gave these bytes."""
        self.order, self.output = fnv1a("".join(self.log).encode()), fnv1a(output)
        self.request()

    def report(self):
        """What goes into `extra`. Numbers of 64 bits are strings, as JSON's may be less exact."""
        self.request()
        return {
            "nodes": self.nodes,
            "builtins": self.builtins,
            "applications": self.applications,
            "extensions": self.extensions,
            "deepest": self.deepest,
            "suspended": self.suspended,
            "consumed_twice": abs(self.made - self.used) + self.again,
            "order": str(self.order),
            "output": str(self.output),
        }


def together(counts):
    """The counts of several workers as one. Order and output are of the last request of each worker that had any; where
    two workers differ one is wrong, and 0 is not right for either."""
    reports = [count.report() for count in counts if count.nodes]
    whole = {name: sum(report[name] for report in reports) for name in reports[0] if name not in ("order", "output")}
    whole["deepest"] = max(report["deepest"] for report in reports)
    for name in ("order", "output"):
        values = {report[name] for report in reports}
        whole[name] = values.pop() if len(values) == 1 else "0"
    return whole


def fnv1a(data):
    """FNV-1a with 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def counted_nodes(nodes, count, wrap, spawns=False):
    """Subclasses of `nodes` that count. `wrap` makes what an encoding has for a pending result of a coroutine; without it
    a coroutine stays one. With `spawns` a task is the result that can be used once."""

    def followed(result, end):
        """Calls `end` when there is a value."""
        awaitable = getattr(result, "coroutine", result)
        if not inspect.isawaitable(awaitable):
            end()
            return result

        async def until_there():
            value = await awaitable
            end()
            return value

        return wrap(until_there()) if wrap else until_there()

    def counted(base):
        class Counted(base):
            __slots__ = ()

            def eval(self, env):
                count.entered(env)
                return followed(base.eval(self, env), count.left)

        if spawns and hasattr(base, "spawn"):
            Counted.spawn = staticmethod(lambda coroutine: count.once(base.spawn(coroutine)))
        if hasattr(base, "functions"):
            Counted.functions = {name: counted_function(entry) for name, entry in base.functions.items()}
        if hasattr(base, "closure"):
            Counted.closure = counted_closure(base.closure)
        return Counted

    def counted_function(entry):
        function = entry[0] if isinstance(entry, tuple) else entry

        def call(*arguments):
            count.builtins += 1
            return followed(function(*arguments), lambda: None)

        return (call, entry[1]) if isinstance(entry, tuple) else call

    def counted_closure(base):
        class Counted(base):
            __slots__ = ()

            def apply(self, element):
                count.begins(element)
                return followed(base.apply(self, element), lambda: count.has_value(element))

            @staticmethod
            def suspend():
                pause = base.suspend()
                if pause is None:
                    count.suspended += 1
                    return None
                return count.suspend(pause)

        if spawns:
            Counted.spawn = staticmethod(lambda coroutine: count.once(base.spawn(coroutine)))
        return Counted

    return {kind: counted(base) for kind, base in nodes.items()}
