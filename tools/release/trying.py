# SPDX-License-Identifier: MIT
"""Installs a wheel where nothing else is, and does there what the pages tell a newcomer to do.

"Nothing else" is a virtual environment without LLVM, compiler and network. A page's block runs
with the system's programs only where the sentence before it says that it needs one.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SNIPPET", "Block", "blocks", "install", "run_bare", "run_block", "same_but_numbers"]

SNIPPET = """\
import compiler_gym
env = compiler_gym.make("llvm-v0", benchmark="cbench-v1/qsort",
                        observation_space="Autophase", reward_space="IrInstructionCountOz")
env.reset(); env.render()
env.step(env.action_space.sample()); env.close()
"""
_BLOCK = re.compile(
    r"(?P<before>[^\n]*)\n+```(?P<language>python|console)\n(?P<code>.*?)```"
    r"(?:\s*<!-- output(?P<cut>[^>]*)-->\s*```text\n(?P<output>.*?)```)?",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Block:
    """What a page says to run and what it says is printed."""

    language: str
    code: str
    output: str | None
    """What is printed, or how it begins where `is_cut`; None where the page does not say."""
    is_cut: bool
    needs_system: bool


def blocks(page: str) -> Iterator[Block]:
    """Return what a page in Markdown tells a newcomer to run; ``sh`` blocks are for a checkout."""
    for found in _BLOCK.finditer(page):
        output = found["output"]
        yield Block(
            found["language"],
            found["code"],
            None if output is None else output.removesuffix("...\n"),
            "first" in (found["cut"] or ""),
            "This needs" in found["before"],
        )


def install(wheel: Path, python: str, into: Path) -> Path:
    """Install `wheel` into a new virtual environment and return its Python."""
    shutil.rmtree(into, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", str(into)], check=True)
    inside = into / "bin" / "python"
    words = ["uv", "pip", "install", "--quiet", "--python", str(inside), str(wheel)]
    subprocess.run(words, check=True)
    return inside


def run_bare(
    python: Path, *words: str, home: Path, system: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run a command of the environment of `python` without network, LLVM and other programs.

    With `system` the programs of this machine are on PATH; `home` is the directory it runs in.
    """
    home.mkdir(parents=True, exist_ok=True)
    path = str(python.parent) + (os.pathsep + os.environ["PATH"] if system else "")
    hide = "" if system else "for d in /usr/lib/llvm-*; do mount -t tmpfs none $d; done; "
    script = f'ip link set lo up 2>/dev/null; {hide}export PATH="$0"; exec "$@"'
    # The shell is named by its path: PATH has none.
    command = ["unshare", "--map-root-user", "--mount", "--net", "/bin/sh", "-c", script, path]
    return subprocess.run(
        [*command, *words],
        cwd=home,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "100"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )


def run_block(block: Block, python: Path, home: Path) -> str | None:
    """Run `block` and return what went otherwise than the page says, if anything did."""
    words = [str(python), "-c"] if block.language == "python" else ["/bin/sh", "-ec"]
    done = run_bare(python, *words, block.code, home=home, system=block.needs_system)
    what = block.code.strip().splitlines()[-1]
    if done.returncode:
        return f"`{what}` left with status {done.returncode}: {done.stderr.strip()[-500:]}"
    if block.output is not None and not same_but_numbers(block.output, done.stdout, block.is_cut):
        return f"`{what}` printed something else than the page shows:\n{done.stdout[:1000]}"
    return None


def same_but_numbers(shown: str, printed: str, is_cut: bool = False) -> bool:
    """Return whether two outputs agree in all but numbers, rules and a table's spaces."""
    expected, found = _plain(shown), _plain(printed)
    return expected == (found[: len(expected)] if is_cut else found)


def _plain(text: str) -> list[str]:
    # A rule below a heading is as wide as the numbers are; pages show none.
    lines = (re.sub(r"[-+]?\d[\d.,]*|─+", _kept, line) for line in text.splitlines())
    return [" ".join(line.split()) for line in lines if line.strip()]


def _kept(found: re.Match[str]) -> str:
    return "" if found[0].startswith("─") else "0"
