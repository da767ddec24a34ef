# SPDX-License-Identifier: MIT
"""Repeat an episode of ``llvm-inline-v0`` on a file; states record this command.

``python -m compiler_gym_inline.llvm -Oz --decisions=din input.bc -o output.bc``
"""

import argparse
import sys
from pathlib import Path

from compiler_gym import _llvm
from compiler_gym.errors import CompilerGymError
from compiler_gym_inline.llvm.actions import ANSWERS, LETTERS

_REST = LETTERS[len(ANSWERS)]
_LEVEL_NAMES = ("O0", "O1", "O2", "O3", "Os", "Oz")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="compiler_gym_inline.llvm", description=__doc__)
    levels = parser.add_mutually_exclusive_group(required=True)
    for level in _LEVEL_NAMES:
        levels.add_argument(f"-{level}", dest="level", action="store_const", const=level)
    parser.add_argument(
        "--decisions",
        default="",
        help="a letter for each call: d for LLVM's choice, i to inline, n not to inline; LLVM "
        "decides all further calls, which a final r also requests",
    )
    parser.add_argument("input", type=Path, help="bitcode or IR file")
    parser.add_argument("-o", dest="output", type=Path, required=True, help="output file (bitcode)")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.decisions) - set(LETTERS))
    if unknown:
        parser.error(f"no decision {unknown[0]!r}; use {', '.join(LETTERS)}")
    try:
        module = _llvm.Module(options.input.read_bytes(), str(options.input))
        count = run(module, options.level, options.decisions)
        options.output.write_bytes(module.bitcode())
    except (CompilerGymError, OSError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 1
    if count < len(options.decisions):
        print(
            f"{parser.prog}: only {count} calls need a decision, but --decisions has "
            f"{len(options.decisions)}; remove the last {len(options.decisions) - count}",
            file=sys.stderr,
        )
        return 1
    return 0


def run(module: _llvm.Module, level: str, decisions: str) -> int:
    """Run the pipeline of `level` with `decisions`; return the number of decisions used."""
    inlining = _llvm.Inlining(module, level)
    count = 0
    for letter in decisions:
        if inlining.is_over:
            return count
        count += 1
        if letter == _REST:
            break
        inlining.answer(ANSWERS[LETTERS.index(letter)])
    while not inlining.is_over:
        inlining.answer("default")
    return count


if __name__ == "__main__":
    sys.exit(main())
