# SPDX-License-Identifier: MIT
"""Runs the code blocks of a page: ``python tests/docs/blocks.py PAGE`` in an empty folder.

Blocks run in order. ``python`` blocks share one namespace; one with a title is
written to that file instead. ``console`` blocks are bash programs that must
succeed. Other blocks are only shown. A block that ``needs="LIBRARY ..."`` of gigabytes
is only run with ``--heavy LIBRARY ...`` that names all of them, and then has to.
``--outputs FILE`` keeps what each block printed, by the line of its first code.
"""

import argparse
import contextlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Block", "blocks_of", "run_page"]

_FENCE = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?(?: needs=\"(?P<needs>[^\"]+)\")? *\n"
    r"(?P<code>.*?)^```$",
    re.M | re.S,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code on a page."""

    language: str
    title: str | None
    code: str
    line: int
    """The line of its first line of code, counted from 1."""
    needs: tuple[str, ...] = ()
    """Libraries that weigh gigabytes, by the names they are imported by."""


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the blocks of the page `text` in order."""
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("code")) + 1
        needs = tuple((found["needs"] or "").split())
        yield Block(found["language"], found["title"], found["code"], line, needs)


def run_page(page: Path, folder: Path, *, heavy: Collection[str] = ()) -> dict[int, str]:
    """Run the blocks of `page` in `folder`, the working directory.

    Return what those that ran have printed, by the line of their first code.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed: dict[int, str] = {}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if not set(block.needs) <= set(heavy):
            continue
        if block.title is not None:
            path = folder / block.title
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.code, encoding="utf-8")
            printed[block.line] = ""
        elif block.language == "python":
            padding = "\n" * (block.line - 1)  # so that a traceback names the page's line
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(compile(padding + block.code, str(page), "exec"), namespace)
            printed[block.line] = said.getvalue()
        elif block.language == "console":
            print(f"{page.name}:{block.line}:\n{block.code}", flush=True)
            command = ["bash", "-euo", "pipefail", "-c", block.code]
            done = subprocess.run(
                command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False
            )
            print(done.stdout, flush=True)
            done.check_returncode()
            printed[block.line] = done.stdout
    return printed


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=Path)
    parser.add_argument("--heavy", nargs="*", default=())
    parser.add_argument("--outputs", type=Path)
    options = parser.parse_args()
    sys.path.insert(0, str(Path.cwd()))
    printed = run_page(options.page, Path.cwd(), heavy=options.heavy)
    if options.outputs:
        options.outputs.write_text(json.dumps(printed), encoding="utf-8")
    print(f"{len(printed)} blocks ran")
