"""A `run` request, made into a Run. The tool has held it to the description before it was sent (`probes/PROTOCOL.md`)."""

import json

from .describe import WORKLOADS
from .timing import Timed


class Run(Timed):
    """What a `run` request asks for.

    `verify` asks that every task's execution is counted by what it did, `phases` that the share of creation is told;
    `params` has a value for every declared parameter."""

    def __init__(self, message):
        workload = known(WORKLOADS, message["workload"], "workload")
        variant, self.perform = known(workload["variants"], message["variant"], "variant")
        self.id, self.size = message["id"], message["size"]
        self.iterations, self.seed = message["iterations"], message["seed"]
        given = message.get("params", {})
        self.verify, self.phases = given.get("verify", False), given.get("phases", False)
        self.counters = given.get("counters")
        params = workload["params"].values()
        self.params = {param["name"]: given.get(param["name"], default(param, variant)) for param in params}


def default(param, variant):
    """What an absent value means: the default, or where the variant excludes that, the first value that it allows."""
    allowed = variant.get("only", {}).get(param["name"], [param["default"]])
    return param["default"] if param["default"] in allowed else allowed[0]


def known(all, name, what):
    """The one of that name; raises where there is none."""
    if name not in all:
        raise LookupError(f"unknown {what} {json.dumps(name)}; known here: {', '.join(all)}")
    return all[name]
