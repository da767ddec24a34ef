# SPDX-License-Identifier: MIT
"""What a page says that a command prints is what it prints.

``<!-- output -->`` below a block of code, or ``<!-- output: the first N lines -->``, is followed by
what the block printed. README and "start in five minutes" are written by ``make docs``, each block
run alone; a guide, whose blocks go on from each other, by ``python -m docs.shown PAGE ...``.
Tests compare, and where a mark ends in ``, numbers differ`` they do not compare the digits.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from docs.site import ROOT

__all__ = ["EVERY_PAGE", "PAGES", "stale", "with_output", "with_outputs"]

PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "start.md")
_PATTERNS = (
    *("docs/*.md", "docs/guide/**/*.md", "docs/results/*.md", "docs/reference/environments/*.md"),
    *("docs/upstream/*.md", "packages/*/docs/*.md"),
)
EVERY_PAGE = sorted(page for pattern in _PATTERNS for page in ROOT.glob(pattern))
"""The pages whose blocks of code run in the tests."""
RUNNER = ROOT / "tests" / "docs" / "blocks.py"
TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
"""The terminal that output is made for."""
_SHOWN = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>(?:(?!^```).)*?)^```\n\n"
    r"(?P<mark><!-- output(?:: the first (?P<lines>\d+) lines)?(?:, numbers differ)? -->\n)"
    r"(?P<shown>.*?)<!-- end output -->",
    re.M | re.S,
)
_RULE = re.compile(r"^[\s─]+$")


def with_output(text: str) -> str:
    """Return the text of a page with the present output of its blocks, each run alone."""
    return _SHOWN.sub(lambda found: _with(found, _printed(found["language"], found["code"])), text)


def with_outputs(text: str, outputs: Mapping[int, str]) -> str:
    """Return the text of a page with what its blocks printed, by the line of their first code."""
    return _SHOWN.sub(lambda found: _with(found, outputs[_line(text, found)]), text)


def stale(text: str, outputs: Mapping[int, str]) -> list[str]:
    """Return what a page shows that is not what its blocks printed."""
    return [
        found["shown"]
        for found in _SHOWN.finditer(text)
        if _comparable(found, found["shown"])
        != _comparable(found, _block(found, outputs[_line(text, found)]))
    ]


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start("code")) + 1


def _comparable(found: re.Match[str], shown: str) -> str:
    if "numbers differ" in found["mark"]:
        return re.sub(r"[ ─]+", " ", re.sub(r"[\d.,]+(?:e-?\d+)?", "0", shown))
    return shown


def _with(found: re.Match[str], printed: str) -> str:
    code = f"```{found['language']}\n{found['code']}```\n\n{found['mark']}"
    return f"{code}{_block(found, printed)}<!-- end output -->"


def _block(found: re.Match[str], printed: str) -> str:
    lines = [line.rstrip() for line in printed.splitlines()]
    said = [line for line in lines if line and not _RULE.match(line)]
    most = int(found["lines"] or len(said))
    return "\n".join(["```text", *said[:most], *(["..."] if len(said) > most else []), "```", ""])


def _variables() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, **TERMINAL, "PATH": path}


def _printed(language: str, code: str) -> str:
    """Return what a block prints to somebody with a terminal of 100 columns."""
    command = ["bash", "-euo", "pipefail"] if language == "console" else [sys.executable]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "-c", code], cwd=folder, env=_variables(), capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a block that is shown with its output failed:\n{code}\n{done.stderr}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m docs.shown", description=__doc__)
    parser.add_argument("pages", nargs="+", type=Path, metavar="PAGE")
    for page in parser.parse_args().pages:
        with tempfile.TemporaryDirectory() as folder:
            kept = Path(folder) / "outputs.json"
            command = [sys.executable, str(RUNNER), str(page.resolve()), "--outputs", str(kept)]
            variables = {**_variables(), "PYTHONPATH": folder}
            subprocess.run(command, cwd=folder, env=variables, check=True, stdout=sys.stderr)
            outputs = {int(line): said for line, said in json.loads(kept.read_text()).items()}
        text = page.read_text(encoding="utf-8")
        page.write_text(with_outputs(text, outputs), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
