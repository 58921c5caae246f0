"""`task` and `task/eager`: every node is a task of the loop, which its parent awaits. Builtins that cannot suspend are
called. With the eager factory a task runs in its creator until it suspends."""

import asyncio

from . import coroutines, program
from .coroutines import MARKED, UNKNOWN
from .values import PAUSE, Closure, Error, error_in, not_a_boolean


class Spawning:
    """What starts a task: the function that a program would call."""

    __slots__ = ()
    spawn = staticmethod(asyncio.create_task)


class Let(Spawning, program.Let):
    __slots__ = ()

    async def eval(self, env):
        value = await self.spawn(self.value.eval(env))
        return await self.spawn(self.body.eval((self.name, value, env)))


class Applied(Spawning, Closure):
    __slots__ = ()
    suspend = staticmethod(lambda: asyncio.sleep(0))

    async def apply(self, element):
        if PAUSE.every and element % PAUSE.every == 0:
            await self.suspend()
        return await self.spawn(self.body.eval((self.param, element, self.env)))


class Lambda(coroutines.Lambda):
    __slots__ = ()
    closure = Applied


class If(Spawning, program.If):
    __slots__ = ()

    async def eval(self, env):
        condition = await self.spawn(self.condition.eval(env))
        if condition is True:
            return await self.spawn(self.then.eval(env))
        if condition is False:
            return await self.spawn(self.otherwise.eval(env))
        return not_a_boolean(condition)


class Bin(Spawning, program.Bin):
    __slots__ = ()
    functions = MARKED

    async def eval(self, env):
        left = await self.spawn(self.left.eval(env))
        right = await self.spawn(self.right.eval(env))
        if type(left) is Error:
            return left
        if type(right) is Error:
            return right
        function, suspends = self.linked or self.functions.get(self.function, UNKNOWN)
        return await function(left, right) if suspends else function(left, right)


class Call(Spawning, program.Call):
    __slots__ = ()
    functions = MARKED

    async def eval(self, env):
        arguments = [await self.spawn(argument.eval(env)) for argument in self.arguments]
        error = error_in(arguments)
        if error:
            return error
        function, suspends = self.linked or self.functions.get(self.function, UNKNOWN)
        return await function(*arguments) if suspends else function(*arguments)


NODES = dict(coroutines.NODES, let=Let, bin=Bin, call=Call, **{"lambda": Lambda, "if": If})
