# SPDX-License-Identifier: MIT
"""What pages tell a newcomer to do, done in a place where the library was just installed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from scripts.release.places import Place

__all__ = ["LOOPS", "SNIPPET", "Block", "blocks", "run_block", "same_but_numbers"]

SNIPPET = """\
import compiler_gym
env = compiler_gym.make("llvm-v0", benchmark="cbench-v1/qsort",
                        observation_space="Autophase", reward_space="IrInstructionCountOz")
env.reset(); env.render()
env.step(env.action_space.sample()); env.close()
"""
LOOPS = """\
import compiler_gym
env = compiler_gym.make("loop_tool-v0", benchmark="loop_tool://matmul/m=32,n=32,k=32",
                        action_space="loops", observation_space="flops")
observation, info = env.reset()
assert observation > 0
env.close()
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
    needs_clang: bool


def blocks(page: str) -> Iterator[Block]:
    """Return what a page in Markdown tells a newcomer to run; ``sh`` blocks are for a checkout."""
    for found in _BLOCK.finditer(page):
        output = found["output"]
        yield Block(
            found["language"],
            found["code"],
            None if output is None else output.removesuffix("...\n"),
            "first" in (found["cut"] or ""),
            "install `clang`" in found["before"],
        )


def run_block(block: Block, place: Place) -> str | None:
    """Run `block` in `place` and return what went otherwise than the page says, if anything did."""
    words = ["python", "-c"] if block.language == "python" else ["/bin/sh", "-ec"]
    done = place.run(*words, block.code, clang=block.needs_clang)
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
