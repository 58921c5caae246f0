"""From what taskscale is built: a hash of it, under which the built command is kept from job to job."""

import hashlib
import os
from pathlib import Path

import github

ROOT = Path(__file__).resolve().parent.parent.parent
# What goes into the command.
PARTS = ["Cargo.toml", "Cargo.lock", "crates", "probes", "suites", "examples"]


def main():
    total = hashlib.sha256()
    files = [file for part in PARTS for file in ([ROOT / part] if (ROOT / part).is_file() else sorted((ROOT / part).rglob("*")))]
    for file in files:
        if file.is_file() and "target" not in file.relative_to(ROOT).parts:
            total.update(f"{file.relative_to(ROOT)}\0".encode())
            total.update(hashlib.sha256(file.read_bytes()).digest())
    github.output("hash", total.hexdigest()[:20])
    github.output("folder", os.path.join(os.environ["RUNNER_TEMP"], "taskscale-command"))
    return 0
