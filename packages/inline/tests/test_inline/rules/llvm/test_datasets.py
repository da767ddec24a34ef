# SPDX-License-Identifier: MIT
"""Sets of programs keep the splits apart, and each program is a set of its own."""

import pytest

from compiler_gym.datasets import SPLITS
from compiler_gym.errors import UnknownNameError
from compiler_gym_agents import tasks
from compiler_gym_inline.rules.llvm.datasets import SETS, RuleProgramSets


def test_no_program_is_in_two_splits() -> None:
    practice, train = set(SETS["practice"]), set(SETS["train"])
    assert practice < train
    assert not practice & set(SETS["small"])
    assert not train & set(SETS["test"]) | train & set(SETS["validation"])
    assert not set(SETS["test"]) & set(SETS["validation"])
    for task in tasks(family="write-a-linker-rule"):
        programs, held_out = (uri.rpartition("/")[2] for uri in (task.benchmark, task.judged_on))
        assert not set(SETS[programs]) & set(SETS[held_out])
        assert task.split in SPLITS


def test_every_program_is_a_set_and_others_do_not_exist() -> None:
    sets = RuleProgramSets()
    assert sets.size == len(list(sets.benchmark_uris()))
    assert sets["sha"].contents == b"sha"
    assert sets["small"].contents == b"crc32\nqsort"
    with pytest.raises(UnknownNameError, match="did you mean train"):
        sets["trian"]
