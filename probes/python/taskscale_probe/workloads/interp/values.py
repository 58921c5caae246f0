"""Values: those of Python, and these two. An environment is a linked list of tuples (name, value, rest), None at its end."""

from types import SimpleNamespace

# An element that `every` divides suspends; none where it is 0.
PAUSE = SimpleNamespace(every=0)


class Error:
    __slots__ = ("text",)

    def __init__(self, text):
        self.text = text


class Closure:
    """A lambda with the environment in which it was written. Subclasses apply it."""

    __slots__ = ("env", "param", "body")

    def __init__(self, env, params, body):
        self.env, self.param, self.body = env, params[0], body


def find(env, name):
    """The value that was bound last under `name`."""
    while env is not None:
        key, value, env = env
        if key == name:
            return value
    return Error("no variable %s" % name)


def error_in(values):
    """The first error among these values, or None."""
    for value in values:
        if type(value) is Error:
            return value
    return None


def listed(values):
    """The list of these values, or the first error among them."""
    return error_in(values) or values


def not_a_boolean(condition):
    """What an `if` gives whose condition is neither true nor false."""
    return condition if type(condition) is Error else Error("a condition must be a boolean")


def mismatch(values, closure):
    """What is wrong with the arguments of `List::map`, or None."""
    if type(values) is list and isinstance(closure, Closure):
        return None
    return Error("List::map needs a list and a lambda")


def int_range(first, last):
    if type(first) is int and type(last) is int:
        return list(range(first, last + 1))
    return Error("Int::range needs two integers")


def remainder(left, right):
    if type(left) is int and type(right) is int:
        return left % right if right else 0
    return Error("Int::% needs two integers")


def equal(left, right):
    if type(left) is int and type(right) is int:
        return left == right
    return Error("Int::== needs two integers")


def to_string(integer):
    if type(integer) is int:
        return str(integer)
    return Error("Int::toString needs an integer")


# The builtins that cannot suspend.
BUILTINS = {"Int::range": int_range, "Int::%": remainder, "Int::==": equal, "Int::toString": to_string}
