"""A `run` request, checked against the description: every field present and of its kind, every parameter declared."""

import json

from .describe import WORKLOADS
from .timing import WORD, Timed

MAX_SEED = 2**53 - 1  # every JSON reader keeps numbers exact up to here (JavaScript's do)


class Refused(Exception):
    """A request that cannot be done. Its text says what failed, on what, and what to do."""


class Run(Timed):
    """What a `run` request asks for.

    `size` and `iterations` are at least 1; `seed` is at most `MAX_SEED`; `verify` asks that every task's execution is
    counted by what it did, `phases` that the share of creation is told; `params` has a value for every declared
    parameter."""

    def __init__(self, message):
        """Reads `message`; raises `Refused` where it cannot be done."""
        declared = _named(WORKLOADS, _text(message, "workload"), "workload")
        name = _text(message, "variant")
        about, self.perform = _named(declared["variants"], name, "variant")
        self.size = _at_least_one(message, "size")
        if self.size > about.get("max_size", self.size):
            raise Refused(f"size {self.size} is above {about['max_size']}, the most that variant {name} can bear")
        self.seed = _integer(message, "seed")
        if self.seed > MAX_SEED:
            raise Refused(f"seed {self.seed} is above {MAX_SEED} (2^53 - 1)")
        given = message.get("params", {})
        if not isinstance(given, dict):
            raise Refused(f"params is {json.dumps(given)}, not an object")
        self.id = _integer(message, "id")
        self.iterations = _at_least_one(message, "iterations")
        self.verify, self.phases = (_reserved(given, name) for name in ("verify", "phases"))
        self.params = _params(declared["params"], about, given)
        if "unavailable" in about:
            raise Refused(f"variant {name} {about['unavailable']['reason']}; {about['unavailable']['remedy']}")


def _params(declared, about, given):
    """All declared parameters, with the values given or else their defaults."""
    values = {name: value for name, value in given.items() if name not in ("verify", "phases")}
    for name, value in values.items():
        param = _named(declared, name, "parameter")
        if not _takes(param, value):
            raise Refused(f"parameter {name} cannot be {json.dumps(value)}; it is {_kind(param)}")
    for name, param in declared.items():
        allowed = about.get("only", {}).get(name, [])
        default = allowed[0] if allowed and param["default"] not in allowed else param["default"]
        value = values.setdefault(name, default)
        if allowed and value not in allowed:
            wanted = f"{name} {json.dumps(value)}, only with {_listed(allowed)}"
            raise Refused(f"variant {about['name']} cannot be run with {wanted}")
    return values


def _takes(param, value):
    kind = _is_integer(value) if _is_integer(param["default"]) else type(value) is type(param["default"])
    return kind and (not param["choices"] or value in param["choices"])


def _kind(param):
    if param["choices"]:
        return f"one of {_listed(param['choices'])}"
    return {bool: "true or false", int: "an integer from 0 to 2^64 - 1"}.get(type(param["default"]), "a word")


def _named(known, name, what):
    if name not in known:
        raise Refused(f"unknown {what} {json.dumps(name)}; known here: {', '.join(known)}")
    return known[name]


def _field(message, name):
    if name not in message:
        raise Refused(f"the request has no field {json.dumps(name)}")
    return message[name]


def _text(message, name):
    value = _field(message, name)
    if not isinstance(value, str):
        raise Refused(f"{name} is {json.dumps(value)}, not a string")
    return value


def _integer(message, name):
    value = _field(message, name)
    if not _is_integer(value):
        raise Refused(f"{name} is {json.dumps(value)}, not an integer from 0 to 2^64 - 1")
    return value


def _at_least_one(message, name):
    value = _integer(message, name)
    if value == 0:
        raise Refused(f"{name} is 0; it must be at least 1")
    return value


def _reserved(given, name):
    value = given.get(name, False)
    if not isinstance(value, bool):
        raise Refused(f"parameter {name} cannot be {json.dumps(value)}; it is true or false")
    return value


def _is_integer(value):
    return type(value) is int and 0 <= value < WORD  # `isinstance` would take `true` for 1


def _listed(values):
    return ", ".join(json.dumps(value) for value in values)
