# SPDX-License-Identifier: MIT
"""Passes on chosen functions, and trials on clones."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from compiler_gym import _llvm
from compiler_gym.errors import InvalidActionError, PipelineError
from tests.bundled import every_program

from .actions import PASSES

PROGRAMS = Path(__file__).parents[2] / "programs"
PIPELINES = [
    row["pipeline"]
    for row in PASSES
    if row["pipeline"].startswith("function(") and row["tier"] == "core"
]
SIZE = _llvm.function_feature_names().index("Instructions")


def load(program: str) -> bytes:
    """Return a bundled program after the pipeline of ``clang -Oz``."""
    module = _llvm.Module((PROGRAMS / program / f"{program}.bc").read_bytes())
    module.apply_level("Oz")
    return module.bitcode()


def count(module: _llvm.Module) -> dict[str, int]:
    """Return the number of instructions of each function with a body."""
    table = _llvm.function_table(module)
    rows = np.frombuffer(table["features"], "<i8").reshape(len(table["names"]), -1)
    return dict(zip(table["names"], rows[:, SIZE].tolist(), strict=True))


def bodies(module: _llvm.Module) -> dict[str, str]:
    """Return the text of each function, without the module's numbers of attributes and metadata."""
    functions = re.findall(
        r"^define .*?@([\w.]+)(\(.*?^})", module.text(), re.MULTILINE | re.DOTALL
    )
    return {name: re.sub(r"([#!])\d+", r"\1", text) for name, text in functions}


@pytest.mark.parametrize("program", every_program())
def test_single_choices_add_up_to_the_joint_result(program: str):
    base = load(program)
    draw = random.Random(program)
    tails = [",".join(draw.choices(PIPELINES, k=draw.randint(1, 6))) for _ in range(8)]
    names = list(count(_llvm.Module(base)))
    choice = {name: draw.randrange(len(tails)) for name in names}
    joint = _llvm.Module(base)
    single_counts: dict[str, int] = {}
    single_bodies: dict[str, str] = {}
    for number, tail in enumerate(tails):
        chosen = [name for name in names if choice[name] == number]
        joint.run_on(tail, chosen)
        every = _llvm.Module(base)
        every.run_on(tail, names)
        single_counts |= {name: count(every)[name] for name in chosen}
        texts = bodies(every)
        single_bodies |= {name: texts[name] for name in chosen}
    joint.verify()
    assert count(joint) == single_counts
    assert bodies(joint) == single_bodies
    assert sum(single_counts.values()) == joint.instruction_count()


@pytest.mark.parametrize("program", every_program())
def test_trials_on_clones_give_what_the_module_would_have(program: str):
    base = load(program)
    draw = random.Random(f"trials of {program}")
    tails = [",".join(draw.choices(PIPELINES, k=draw.randint(1, 6))) for _ in range(8)]
    module = _llvm.Module(base)
    before, names = module.ir_hash(), list(count(module))
    left, hashes, digests = _llvm.try_on(module, [(name, tails) for name in names])
    assert module.ir_hash() == before
    assert len(hashes) == len(digests) == len(left)
    rows = np.frombuffer(left, "<i8").reshape(len(names), len(tails))
    for number, tail in enumerate(tails):
        every = _llvm.Module(base)
        every.run_on(tail, names)
        assert list(count(every).values()) == rows[:, number].tolist(), tail


def test_larger_units_and_unknown_functions_are_refused():
    module = _llvm.Module(load("crc32"))
    before = module.ir_hash()
    with pytest.raises(PipelineError, match="only passes of functions and loops"):
        module.run_on("globaldce", ["main"])
    with pytest.raises(InvalidActionError, match="no function 'missing' with a body"):
        module.run_on("function(dce)", ["missing"])
    with pytest.raises(PipelineError, match="unknown function pass 'no-such-pass'"):
        _llvm.try_on(module, [("main", ["no-such-pass"])])
    assert module.ir_hash() == before
