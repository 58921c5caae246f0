"""`async` and `async/sync_caller`: a coroutine at every node. In `async` a builtin is a coroutine function too;
`async/sync_caller` knows those that cannot suspend, and calls them."""

import asyncio

from . import program
from .values import BUILTINS, PAUSE, Closure, Error, error_in, find, listed, mismatch, not_a_boolean


class Literal(program.Literal):
    __slots__ = ()

    async def eval(self, _env):
        return self.value


class Var(program.Var):
    __slots__ = ()

    async def eval(self, env):
        return find(env, self.name)


class Let(program.Let):
    __slots__ = ()

    async def eval(self, env):
        return await self.body.eval((self.name, await self.value.eval(env), env))


class Applied(Closure):
    __slots__ = ()
    suspend = staticmethod(lambda: asyncio.sleep(0))

    async def apply(self, element):
        if PAUSE.every and element % PAUSE.every == 0:
            await self.suspend()
        return await self.body.eval((self.param, element, self.env))


class Lambda(program.Lambda):
    __slots__ = ()
    closure = Applied

    async def eval(self, env):
        return self.closure(env, self.params, self.body)


class If(program.If):
    __slots__ = ()

    async def eval(self, env):
        condition = await self.condition.eval(env)
        if condition is True:
            return await self.then.eval(env)
        if condition is False:
            return await self.otherwise.eval(env)
        return not_a_boolean(condition)


async def unknown(*_arguments):
    return Error("no such function")


async def int_range(first, last):
    if type(first) is int and type(last) is int:
        return list(range(first, last + 1))
    return Error("Int::range needs two integers")


async def remainder(left, right):
    if type(left) is int and type(right) is int:
        return left % right if right else 0
    return Error("Int::% needs two integers")


async def equal(left, right):
    if type(left) is int and type(right) is int:
        return left == right
    return Error("Int::== needs two integers")


async def to_string(integer):
    if type(integer) is int:
        return str(integer)
    return Error("Int::toString needs an integer")


async def list_map(values, closure):
    wrong = mismatch(values, closure)
    if wrong:
        return wrong
    return listed([await closure.apply(element) for element in values])


FUNCTIONS = {
    "Int::range": int_range,
    "Int::%": remainder,
    "Int::==": equal,
    "Int::toString": to_string,
    "List::map": list_map,
}


class Bin(program.Bin):
    __slots__ = ()
    functions = FUNCTIONS

    async def eval(self, env):
        left = await self.left.eval(env)
        right = await self.right.eval(env)
        if type(left) is Error:
            return left
        if type(right) is Error:
            return right
        return await (self.linked or self.functions.get(self.function, unknown))(left, right)


class Call(program.Call):
    __slots__ = ()
    functions = FUNCTIONS

    async def eval(self, env):
        arguments = [await argument.eval(env) for argument in self.arguments]
        error = error_in(arguments)
        if error:
            return error
        return await (self.linked or self.functions.get(self.function, unknown))(*arguments)


NODES = {
    "int": Literal,
    "str": Literal,
    "var": Var,
    "let": Let,
    "lambda": Lambda,
    "if": If,
    "bin": Bin,
    "call": Call,
}

# Of a caller that knows: a function, and whether it may suspend.
MARKED = dict({name: (function, False) for name, function in BUILTINS.items()}, **{"List::map": (list_map, True)})
UNKNOWN = unknown, True


class KnowingBin(Bin):
    __slots__ = ()
    functions = MARKED

    async def eval(self, env):
        left = await self.left.eval(env)
        right = await self.right.eval(env)
        if type(left) is Error:
            return left
        if type(right) is Error:
            return right
        function, suspends = self.linked or self.functions.get(self.function, UNKNOWN)
        return await function(left, right) if suspends else function(left, right)


class KnowingCall(Call):
    __slots__ = ()
    functions = MARKED

    async def eval(self, env):
        arguments = [await argument.eval(env) for argument in self.arguments]
        error = error_in(arguments)
        if error:
            return error
        function, suspends = self.linked or self.functions.get(self.function, UNKNOWN)
        return await function(*arguments) if suspends else function(*arguments)


KNOWING_NODES = dict(NODES, bin=KnowingBin, call=KnowingCall)
