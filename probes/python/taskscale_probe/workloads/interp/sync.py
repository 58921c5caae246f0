"""`sync`: plain recursion, which cannot suspend. An element that would yields its thread in place."""

import time

from . import program
from .values import BUILTINS, PAUSE, Closure, Error, error_in, find, listed, mismatch, not_a_boolean


class Literal(program.Literal):
    __slots__ = ()

    def eval(self, _env):
        return self.value


class Var(program.Var):
    __slots__ = ()

    def eval(self, env):
        return find(env, self.name)


class Let(program.Let):
    __slots__ = ()

    def eval(self, env):
        return self.body.eval((self.name, self.value.eval(env), env))


class Applied(Closure):
    __slots__ = ()
    suspend = staticmethod(lambda: time.sleep(0))

    def apply(self, element):
        if PAUSE.every and element % PAUSE.every == 0:
            self.suspend()
        return self.body.eval((self.param, element, self.env))


class Lambda(program.Lambda):
    __slots__ = ()
    closure = Applied

    def eval(self, env):
        return self.closure(env, self.params, self.body)


class If(program.If):
    __slots__ = ()

    def eval(self, env):
        condition = self.condition.eval(env)
        if condition is True:
            return self.then.eval(env)
        if condition is False:
            return self.otherwise.eval(env)
        return not_a_boolean(condition)


def unknown(*_arguments):
    return Error("no such function")


def list_map(values, closure):
    wrong = mismatch(values, closure)
    if wrong:
        return wrong
    return listed([closure.apply(element) for element in values])


FUNCTIONS = dict(BUILTINS, **{"List::map": list_map})


class Bin(program.Bin):
    __slots__ = ()
    functions = FUNCTIONS

    def eval(self, env):
        left = self.left.eval(env)
        right = self.right.eval(env)
        if type(left) is Error:
            return left
        if type(right) is Error:
            return right
        return (self.linked or self.functions.get(self.function, unknown))(left, right)


class Call(program.Call):
    __slots__ = ()
    functions = FUNCTIONS

    def eval(self, env):
        arguments = [argument.eval(env) for argument in self.arguments]
        error = error_in(arguments)
        if error:
            return error
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
