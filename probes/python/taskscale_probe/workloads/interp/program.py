"""The programs, the one that all languages share and nested lets of any depth, and the shape of their trees. What
evaluates a tree are subclasses of these nodes, one set for each encoding."""

import json

# `probes/interp/program.json`, which lies outside what is carried of this probe.
PROGRAM = (
    '["let","range",["call","Int::range",[["int",1],["int",100]]],'
    '["call","List::map",[["var","range"],["lambda",["i"],'
    '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",15]],["int",0]],["str","fizzbuzz"],'
    '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",5]],["int",0]],["str","buzz"],'
    '["if",["bin","Int::==",["bin","Int::%",["var","i"],["int",3]],["int",0]],["str","fizz"],'
    '["call","Int::toString",[["var","i"]]]]]]]]]]'
)


class Literal:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class Var:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Let:
    __slots__ = ("name", "value", "body")

    def __init__(self, name, value, body):
        self.name, self.value, self.body = name, value, body


class Bin:
    # `linked` holds the function where it was looked up after parsing.
    __slots__ = ("function", "linked", "left", "right")

    def __init__(self, function, linked, left, right):
        self.function, self.linked, self.left, self.right = function, linked, left, right


class Call:
    __slots__ = ("function", "linked", "arguments")

    def __init__(self, function, linked, arguments):
        self.function, self.linked, self.arguments = function, linked, arguments


class Lambda:
    __slots__ = ("params", "body")

    def __init__(self, params, body):
        self.params, self.body = params, body


class If:
    __slots__ = ("condition", "then", "otherwise")

    def __init__(self, condition, then, otherwise):
        self.condition, self.then, self.otherwise = condition, then, otherwise


def parse(text, nodes, functions=None):
    """The tree of a program in JSON, of the classes `nodes`, by their kinds. With `functions` it holds them."""
    linked = (functions or {}).get

    def tree(node):
        kind, *parts = node
        if kind == "lambda":
            return nodes[kind](parts[0], tree(parts[1]))
        if kind in ("int", "str", "var"):
            return nodes[kind](*parts)
        if kind == "call":
            return nodes[kind](parts[0], linked(parts[0]), [tree(one) for one in parts[1]])
        if kind == "bin":
            return nodes[kind](parts[0], linked(parts[0]), tree(parts[1]), tree(parts[2]))
        if kind == "let":
            return nodes[kind](parts[0], tree(parts[1]), tree(parts[2]))
        return nodes[kind](*map(tree, parts))

    return tree(json.loads(text))


def nested(depth, nodes):
    """`let x0 = 1 in let x1 = x0 in .. x_last`, made from the inside out."""
    body = nodes["var"]("x%d" % (depth - 1))
    for i in reversed(range(depth)):
        body = nodes["let"]("x%d" % i, nodes["var"]("x%d" % (i - 1)) if i else nodes["int"](1), body)
    return body


def output():
    """The right output of the program, by its definition."""
    word = lambda i: "fizzbuzz" if i % 15 == 0 else "buzz" if i % 5 == 0 else "fizz" if i % 3 == 0 else str(i)
    return "[" + ",".join('"%s"' % word(i) for i in range(1, 101)) + "]"
