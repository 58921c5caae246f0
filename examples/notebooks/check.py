"""Executes each notebook of this folder in a folder of its own, beside a run and a digest that were just taken."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

HERE = Path(__file__).resolve().parent
TRACE = HERE.parent.parent / "crates" / "cli" / "tests" / "traces" / "taskflow-straggler.chrome.json"
TOOL = Path(sys.executable).parent / "taskscale"
# Samples are few and short: what is looked at is whether the notebook draws, not what.
RUN = "run fanout --runtime asyncio --size 64 --size 512 --samples 4 --sample-time 1ms --max-time 600s -o run.taskscale.jsonl"
# A notebook and how many figures it draws.
NOTEBOOKS = {"first-look.ipynb": 2}


def main():
    failed = False
    assert {path.name for path in HERE.glob("*.ipynb")} == set(NOTEBOOKS), "a notebook is not listed in NOTEBOOKS"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TOOL, *RUN.split()], cwd=folder, check=True, capture_output=True)
        digest = subprocess.run([TOOL, "digest", "--format", "json", TRACE], check=True, capture_output=True).stdout
        (Path(folder) / "digest.json").write_bytes(digest)
        for name, figures in NOTEBOOKS.items():
            problem = check(HERE / name, figures, folder)
            print(f"FAILED: {name}: {problem}" if problem else f"ok: {name}", flush=True)
            failed |= bool(problem)
    return failed


def check(path, figures, folder):
    """What is wrong with a notebook, or nothing."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    if any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells):
        return "it has outputs; strip them (jupyter nbconvert --clear-output --inplace)"
    try:
        nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": folder}}).execute()
    except nbclient.exceptions.CellExecutionError as error:
        return str(error)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    drawn = sum("image/png" in output.get("data", {}) for output in outputs)
    if drawn != figures:
        return f"it draws {drawn} figures and not {figures}: {json.dumps(outputs)[:500]}"
    return None


if __name__ == "__main__":
    sys.exit(main())
