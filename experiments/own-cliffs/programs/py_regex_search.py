"""Cliff, n^3: the regex of Cloudflare's outage of 2019, searched in a line of n x without a "="."""

import platform
import re

from taskscale_probe.sdk import serve, variant

pattern = re.compile(".*.*=.*")


@variant("search", "regex", creates_task=False)
def search(run):
    line = "x" * run.size
    return run.time(lambda _phases: run.size if pattern.search(line) is None else 0)


serve("py_regex_search", platform.python_version())
