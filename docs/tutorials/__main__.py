# SPDX-License-Identifier: MIT
# pyright: reportMissingTypeStubs=false, reportMissingImports=false
# Jupytext and nbformat are partially typed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""Run tutorials and store their results: ``python -m docs.tutorials [NAME ...]``."""

import argparse
import os
import tempfile
import time
from pathlib import Path

import jupytext
import nbformat
from nbclient import NotebookClient

from docs.tutorials import NAMES, OWN, belonging, install_line, results, text

LONGEST = 120
"""Seconds that a tutorial may take."""


def run(name: str, folder: Path, timeout: int = 600) -> float:
    """Run a tutorial, store its results in `folder`, and return its seconds."""
    written = text(name)
    notebook = jupytext.reads(written, fmt="py:percent")
    notebook.metadata["kernelspec"] = {
        "display_name": "Python 3",
        "language": "python",
        "name": "python3",
    }
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        client = NotebookClient(
            notebook, timeout=timeout, resources={"metadata": {"path": directory}}
        )
        client.execute()
    seconds = time.monotonic() - began
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"{name}-{number}"
        cell.metadata.pop("execution", None)
    install = nbformat.v4.new_code_cell(install_line(name), id=f"{name}-install")
    notebook.cells.insert(0, install)
    notebook.metadata[OWN] = belonging(written)
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / results(name).name)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.tutorials", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all without any")
    parser.add_argument("--folder", type=Path, default=results(NAMES[0]).parent)
    options = parser.parse_args()
    os.environ.setdefault("PYTHONWARNINGS", "ignore::DeprecationWarning")
    for name in options.names or NAMES:
        print(f"{name}: {run(name, options.folder):.0f} s", flush=True)


if __name__ == "__main__":
    main()
