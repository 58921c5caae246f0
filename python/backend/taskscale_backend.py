"""The build backend: maturin's, which makes the extension, and the command line tool beside it, as a script of the wheel, with its
manual pages and completions as data of the wheel.

``TASKSCALE_PROFILE`` is the Cargo profile, ``release`` without it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from maturin import (  # noqa: F401
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_wheel,
)
import maturin

HERE = Path(__file__).resolve().parent.parent
DATA = HERE / "taskscale.data"
SCRIPTS = DATA / "scripts"
# What lies here is laid below the environment's prefix.
SHARE = DATA / "data" / "share"
COMPLETIONS = {
    "bash": "bash-completion/completions/taskscale",
    "zsh": "zsh/site-functions/_taskscale",
    "fish": "fish/vendor_completions.d/taskscale.fish",
}
PROFILE = os.environ.get("TASKSCALE_PROFILE", "release")

# maturin asks for the folder already when it is asked for metadata.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _command_line_tool() -> None:
    """Builds ``taskscale`` and lays it where maturin takes a wheel's scripts from."""
    shutil.rmtree(DATA)
    SCRIPTS.mkdir(parents=True)
    manifest = HERE.parent / "crates" / "cli" / "Cargo.toml"
    if not manifest.exists():
        print("taskscale: the wheel comes without the command line tool: its source is not here", file=sys.stderr)
        return
    command = ["cargo", "build", "--profile", PROFILE, "--manifest-path", str(manifest), "--bin", "taskscale"]
    built = subprocess.run([*command, "--message-format", "json-render-diagnostics"], stdout=subprocess.PIPE, check=True)
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith(b"{"))
    executables = [message["executable"] for message in messages if message.get("executable")]
    tool = SCRIPTS / Path(executables[-1]).name
    shutil.copy2(executables[-1], tool)
    # Line tables are three quarters of the file; to build without them would build everything anew.
    if PROFILE == "release" and shutil.which("strip"):
        subprocess.run(["strip", "--strip-debug", str(tool)], check=True)
    _words(tool)


def _words(tool: Path) -> None:
    """Lays the tool's manual pages and completions where ``man`` and shells look, below the environment that gets the wheel."""
    pages = SHARE / "man" / "man1"
    pages.mkdir(parents=True)
    subprocess.run([tool, "man", "--folder", pages], check=True)
    for shell, name in COMPLETIONS.items():
        path = SHARE / name
        path.parent.mkdir(parents=True)
        path.write_bytes(subprocess.run([tool, "completions", shell], stdout=subprocess.PIPE, check=True).stdout)


def _profile() -> None:
    if PROFILE != "release":
        os.environ["MATURIN_PEP517_ARGS"] = f"--profile {PROFILE}"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _command_line_tool()
    _profile()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _command_line_tool()
    _profile()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
