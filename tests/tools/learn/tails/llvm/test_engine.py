# SPDX-License-Identifier: MIT
"""The engine's half of tails."""

import random

import pytest

from compiler_gym import _elf, _llvm
from compiler_gym.tools.learn.tails.llvm import engine
from compiler_gym.tools.learn.tails.llvm.passes import PASSES as PASSES_OF_TAILS
from tests.bundled import every_program

from ...conftest import PROGRAMS

PASSES = (
    "function(simplifycfg<sink-common-insts>)",
    "function(gvn)",
    "function(early-cse<memssa>)",
)


def load(program: str) -> bytes:
    return engine.make_base((PROGRAMS / program / f"{program}.bc").read_bytes())


@pytest.mark.parametrize("program", every_program())
def test_bytes_of_a_function_depend_on_its_own_tail_alone(program: str):
    base = engine.make_base((PROGRAMS / program / f"{program}.bc").read_bytes())
    draw = random.Random(program)
    tails = [",".join(draw.choices(PASSES_OF_TAILS, k=draw.randint(1, 4))) for _ in range(4)]
    described, left, sizes, left_bytes = engine.label_bytes(base, tails)
    names = described.names
    assert left.tolist() == engine.label(base, tails, names)[1].tolist()
    plain = _elf.function_bytes(_llvm.object_code_in_sections(_llvm.Module(base)))
    assert sizes.tolist() == [plain[name] for name in names]
    one = draw.choice(names)
    for column, tail in enumerate(tails):
        for chosen in (names, [one]):
            module = _llvm.Module(base)
            module.run_on(tail, chosen)
            found = _elf.function_bytes(_llvm.object_code_in_sections(module))
            expected = dict(zip(names, left_bytes[:, column].tolist(), strict=True))
            assert found == plain | {name: expected[name] for name in chosen}


def test_the_best_tail_of_each_function_is_kept():
    base = load("stringsearch2")
    described, left = engine.label(base, PASSES)
    expected = sum(
        min(own, int(size))
        for own, size in zip(left.min(axis=1).tolist(), described.instructions, strict=True)
    )
    after, before, count = engine.keep_smallest(base, dict.fromkeys(described.names, PASSES))
    assert before == described.instructions.sum() == _llvm.Module(base).instruction_count()
    assert count == expected == _llvm.Module(after).instruction_count() < before
    _llvm.Module(after).verify()


def test_a_base_stays_where_no_tail_helps():
    base = load("crc32")
    names = engine.describe(base).names
    assert engine.keep_smallest(base, {name: ["function(reg2mem)"] for name in names})[0] == base
    assert engine.keep_smallest(base, {})[0] == base


def test_a_module_without_functions_has_no_rows():
    described, left = engine.label(b"@g = global i32 1", PASSES)
    assert described.names == []
    assert described.features.shape == (0, engine.describe(load("crc32")).features.shape[1])
    assert left.shape == (0, len(PASSES))
