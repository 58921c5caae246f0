"""`hidden` and `union/inlined`: a result is a value or a pending one, and whoever uses it looks at once, and chains only
where it is pending. In `hidden` a pending result is a kind of value of the interpreter; in `union/inlined` it is the bare
coroutine. Python has no other place to say it, so they differ in an object for each result that is pending."""

import asyncio

from . import program, sync
from .values import BUILTINS, PAUSE, Closure, Error, error_in, listed, mismatch, not_a_boolean


class Pending:
    """A pending value."""

    __slots__ = ("coroutine",)

    def __init__(self, coroutine):
        self.coroutine = coroutine

    def __await__(self):
        return self.coroutine.__await__()


def nodes_of(kind, pend):
    """The nodes and functions where a pending result is a `kind`, which `pend` makes of a coroutine."""

    class Let(program.Let):
        __slots__ = ()

        def eval(self, env):
            value = self.value.eval(env)
            if type(value) is kind:
                return pend(self.later(value, env))
            return self.body.eval((self.name, value, env))

        async def later(self, value, env):
            result = self.body.eval((self.name, await value, env))
            return await result if type(result) is kind else result

    class Applied(Closure):
        __slots__ = ()
        suspend = staticmethod(lambda: asyncio.sleep(0))

        def apply(self, element):
            if PAUSE.every and element % PAUSE.every == 0:
                return pend(self.later(element))
            return self.body.eval((self.param, element, self.env))

        async def later(self, element):
            await self.suspend()
            result = self.body.eval((self.param, element, self.env))
            return await result if type(result) is kind else result

    class Lambda(sync.Lambda):
        __slots__ = ()
        closure = Applied

    class If(program.If):
        __slots__ = ()

        def eval(self, env):
            condition = self.condition.eval(env)
            if condition is True:
                return self.then.eval(env)
            if condition is False:
                return self.otherwise.eval(env)
            if type(condition) is kind:
                return pend(self.later(condition, env))
            return not_a_boolean(condition)

        async def later(self, condition, env):
            condition = await condition
            if type(condition) is not bool:
                return not_a_boolean(condition)
            result = (self.then if condition else self.otherwise).eval(env)
            return await result if type(result) is kind else result

    def list_map(values, closure):
        wrong = mismatch(values, closure)
        if wrong:
            return wrong
        results = []
        for index, element in enumerate(values):
            result = closure.apply(element)
            if type(result) is kind:
                return pend(rest_of_map(results, result, values[index + 1 :], closure))
            results.append(result)
        return listed(results)

    async def rest_of_map(results, result, values, closure):
        results.append(await result)
        for element in values:
            result = closure.apply(element)
            results.append(await result if type(result) is kind else result)
        return listed(results)

    table = dict(BUILTINS, **{"List::map": list_map})

    class Bin(program.Bin):
        __slots__ = ()
        functions = table

        def eval(self, env):
            left = self.left.eval(env)
            if type(left) is kind:
                return pend(self.later(left, None, env))
            right = self.right.eval(env)
            if type(right) is kind:
                return pend(self.later(left, right, env))
            if type(left) is Error:
                return left
            if type(right) is Error:
                return right
            return (self.linked or self.functions.get(self.function, sync.unknown))(left, right)

        async def later(self, left, right, env):
            if right is None:
                left = await left
                right = self.right.eval(env)
            if type(right) is kind:
                right = await right
            if type(left) is Error:
                return left
            if type(right) is Error:
                return right
            result = (self.linked or self.functions.get(self.function, sync.unknown))(left, right)
            return await result if type(result) is kind else result

    class Call(program.Call):
        __slots__ = ()
        functions = table

        def eval(self, env):
            arguments = []
            for argument in self.arguments:
                result = argument.eval(env)
                if type(result) is kind:
                    return pend(self.later(arguments, result, env))
                arguments.append(result)
            error = error_in(arguments)
            if error:
                return error
            return (self.linked or self.functions.get(self.function, sync.unknown))(*arguments)

        async def later(self, arguments, result, env):
            arguments.append(await result)
            for argument in self.arguments[len(arguments) :]:
                result = argument.eval(env)
                arguments.append(await result if type(result) is kind else result)
            error = error_in(arguments)
            if error:
                return error
            result = (self.linked or self.functions.get(self.function, sync.unknown))(*arguments)
            return await result if type(result) is kind else result

    own = {"let": Let, "lambda": Lambda, "if": If, "bin": Bin, "call": Call}
    return dict(sync.NODES, **own)
