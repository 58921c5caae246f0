"""`union`: a result is `Now` or `Later`, and `then` takes the short path where it is there. What follows is a closure."""

import asyncio

from . import program
from .values import BUILTINS, PAUSE, Closure, Error, error_in, find, listed, mismatch, not_a_boolean


class Now:
    """A result that is there."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def then(self, follow):
        return follow(self.value)


class Later:
    """A result that is pending."""

    __slots__ = ("coroutine",)

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def then(self, follow):
        return Later(self.chained(follow))

    async def chained(self, follow):
        return await value_of(follow(await self.coroutine))


async def value_of(result):
    """The value of a result, awaited where it is pending."""
    return result.value if type(result) is Now else await result.coroutine


class Literal(program.Literal):
    __slots__ = ()

    def eval(self, _env):
        return Now(self.value)


class Var(program.Var):
    __slots__ = ()

    def eval(self, env):
        return Now(find(env, self.name))


class Let(program.Let):
    __slots__ = ()

    def eval(self, env):
        return self.value.eval(env).then(lambda value: self.body.eval((self.name, value, env)))


class Applied(Closure):
    __slots__ = ()
    suspend = staticmethod(lambda: asyncio.sleep(0))

    def apply(self, element):
        if PAUSE.every and element % PAUSE.every == 0:
            return Later(self.suspend()).then(lambda _: self.body.eval((self.param, element, self.env)))
        return self.body.eval((self.param, element, self.env))


class Lambda(program.Lambda):
    __slots__ = ()
    closure = Applied

    def eval(self, env):
        return Now(self.closure(env, self.params, self.body))


class If(program.If):
    __slots__ = ()

    def eval(self, env):
        def chosen(condition):
            if condition is True:
                return self.then.eval(env)
            if condition is False:
                return self.otherwise.eval(env)
            return Now(not_a_boolean(condition))

        return self.condition.eval(env).then(chosen)


def plain(function):
    """A builtin whose result is always there."""
    return lambda *arguments: Now(function(*arguments))


def unknown(*_arguments):
    return Now(Error("no such function"))


def list_map(values, closure):
    wrong = mismatch(values, closure)
    return Now(wrong) if wrong else in_turn(closure.apply, values).then(lambda results: Now(listed(results)))


def in_turn(start, all):
    """The list of the results of `start` for all of these. One begins when the one before it has its value."""
    results = []
    for index, one in enumerate(all):
        result = start(one)
        if type(result) is not Now:
            return Later(rest_in_turn(start, results, result, all[index + 1 :]))
        results.append(result.value)
    return Now(results)


async def rest_in_turn(start, results, result, rest):
    results.append(await result.coroutine)
    for one in rest:
        results.append(await value_of(start(one)))
    return results


FUNCTIONS = dict({name: plain(function) for name, function in BUILTINS.items()}, **{"List::map": list_map})


class Bin(program.Bin):
    __slots__ = ()
    functions = FUNCTIONS

    def eval(self, env):
        return self.left.eval(env).then(
            lambda left: self.right.eval(env).then(lambda right: self.called(left, right))
        )

    def called(self, left, right):
        if type(left) is Error:
            return Now(left)
        if type(right) is Error:
            return Now(right)
        return (self.linked or self.functions.get(self.function, unknown))(left, right)


class Call(program.Call):
    __slots__ = ()
    functions = FUNCTIONS

    def eval(self, env):
        return in_turn(lambda argument: argument.eval(env), self.arguments).then(self.called)

    def called(self, arguments):
        error = error_in(arguments)
        if error:
            return Now(error)
        return (self.linked or self.functions.get(self.function, unknown))(*arguments)


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
