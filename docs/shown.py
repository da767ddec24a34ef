# SPDX-License-Identifier: MIT
"""What a page says that a command prints is what it prints.

``<!-- output -->`` below a block of code, or ``<!-- output: the first N lines -->``, is followed by
what ``make docs`` got from that block; a test compares. Blocks are those that tests/docs runs.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from docs.site import ROOT

__all__ = ["PAGES", "with_output"]

PAGES = (ROOT / "README.md", ROOT / "docs" / "start.md")
_SHOWN = re.compile(
    r"^```(?P<language>python|console)\n(?P<code>(?:(?!^```).)*?)^```\n\n"
    r"(?P<mark><!-- output(?:: the first (?P<lines>\d+) lines)? -->\n).*?<!-- end output -->",
    re.M | re.S,
)
_RULE = re.compile(r"^[\s─]+$")


def with_output(text: str) -> str:
    """Return the text of a page with the present output of its blocks."""
    return _SHOWN.sub(_with_present, text)


def _with_present(found: re.Match[str]) -> str:
    said = _printed(found["language"], found["code"])
    most = int(found["lines"] or len(said))
    shown = [*said[:most], *(["..."] if len(said) > most else [])]
    block = "\n".join(["```text", *shown, "```"])
    return (
        f"```{found['language']}\n{found['code']}```\n\n{found['mark']}{block}\n<!-- end output -->"
    )


def _printed(language: str, code: str) -> list[str]:
    """Return the lines that a block prints to somebody with a terminal of 100 columns."""
    command = ["bash", "-euo", "pipefail"] if language == "console" else [sys.executable]
    variables = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "-c", code], cwd=folder, env=variables, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a block that is shown with its output failed:\n{code}\n{done.stderr}")
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return [line for line in lines if line and not _RULE.match(line)]
