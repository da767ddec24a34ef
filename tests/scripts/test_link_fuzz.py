# SPDX-License-Identifier: MIT
"""The fuzzer of links accepts clang in our place, and finds drivers that do something else."""

import random
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from scripts.link_fuzz.__main__ import fuzz
from scripts.link_fuzz.cases import Case, make_case, quote
from scripts.link_fuzz.comparing import shrink
from scripts.link_fuzz.units import make_pool

TOOLS = ("clang-22", "ld.lld-22", "gcc", "objcopy", "llvm-objcopy-22", "llvm-ar-22")
needs_tools = pytest.mark.skipif(
    not all(map(shutil.which, TOOLS)), reason="clang-22, lld-22, gcc or binutils is missing"
)
CASES = 4
WRONG = """
for word; do [ "$word" = -c ] && clang "$@"; done
touch left.txt
clang "${@//whole-archive/as-needed}"
"""


def make_driver(folder: Path, script: str) -> Path:
    """Return a driver that runs `script` with the options that follow the policy's name."""
    for name, clang in (("compiler-gym-cc", "clang-22"), ("compiler-gym-cxx", "clang++-22")):
        text = f'#!/bin/bash\nshift 2\nclang() {{ exec {clang} -O2 -fuse-ld=lld "$@"; }}\n'
        (folder / name).write_text(text + script)
        (folder / name).chmod(0o755)
    return folder / "compiler-gym-cc"


@needs_tools
def test_clang_in_our_place_differs_nowhere(tmp_path: Path) -> None:
    driver = make_driver(tmp_path, 'clang "$@"\n')
    verdicts = [verdict for _, verdict in fuzz(0, range(CASES), driver)]
    assert [verdict.differences for verdict in verdicts] == [()] * CASES


@needs_tools
def test_a_wrong_driver_is_found(tmp_path: Path) -> None:
    driver = make_driver(tmp_path, WRONG)
    cases = [make_case(seed, make_pool(0), ()) for seed in range(25)]
    seeds = [case.seed for case in cases if "whole-archive" in " ".join(case.arguments)]
    kinds = {kind for _, verdict in fuzz(0, seeds[:4], driver) for kind in verdict.kinds}
    assert kinds >= {"files left", "members"}


@needs_tools
@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_links_differ_from_clang_nowhere(first: int) -> None:
    driver = Path(shutil.which("compiler-gym-cc") or ".venv/bin/compiler-gym-cc").absolute()
    wrong = [
        f"{case.seed}: {each.kind}: {each.detail}"
        for group in (first // 25, first // 25 + 1)
        for case, verdict in fuzz(group, range(group * 25, group * 25 + 25), driver)
        for each in verdict.differences
        if each.is_ours
    ]
    assert not wrong, "\n".join(wrong)


def test_a_case_is_the_same_every_time() -> None:
    assert make_case(7, make_pool(0), ()) == make_case(7, make_pool(0), ())
    assert make_case(7, make_pool(0), ()) != make_case(8, make_pool(0), ())


def test_shrinking_keeps_what_the_failure_needs() -> None:
    case = replace(make_case(7, make_pool(0), ()), chunks=(("a",), ("-b", "c"), ("d",)))

    def fails(smaller: Case) -> bool:
        return "c" in smaller.arguments

    smallest = shrink(case, fails)
    assert (smallest.arguments, smallest.steps, smallest.before) == (["-b", "c"], (), "")


@pytest.mark.parametrize("word", ["plain", "with space", "it's", 'a "b" \\ c', "-DX=\\"])
def test_a_quoted_word_is_read_as_it_was(word: str) -> None:
    forms = {quote(random.Random(seed), word) for seed in range(20)}
    assert len(forms) > 1
    assert all(shlex.split(form) == [word] for form in forms)
