"""The build backend: maturin's, which makes the extension, and the command line tool beside it, as a script of the wheel.

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
SCRIPTS = HERE / "taskscale.data" / "scripts"
PROFILE = os.environ.get("TASKSCALE_PROFILE", "release")

# maturin asks for the folder already when it is asked for metadata.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def _command_line_tool() -> None:
    """Builds ``taskscale`` and lays it where maturin takes a wheel's scripts from."""
    shutil.rmtree(SCRIPTS)
    SCRIPTS.mkdir()
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
