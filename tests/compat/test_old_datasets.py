# SPDX-License-Identifier: MIT
"""An error about a dataset that 0.2.5 had says which dataset has its programs now."""

import pytest

import compiler_gym
from compiler_gym.compat import old_datasets
from compiler_gym.errors import UnknownNameError

LLVM_10: dict[str, str] = vars(old_datasets)["_LLVM_10"]
NEWER: dict[str, str] = vars(old_datasets)["_NEWER"]


def test_the_error_of_every_old_dataset_says_what_stands_for_it() -> None:
    with compiler_gym.make("llvm-v0") as env:
        for old, today in {**LLVM_10, **NEWER}.items():
            assert env.datasets[today].name == f"benchmark://{today}"
            for name in (old, f"benchmark://{old}"):
                with pytest.raises(UnknownNameError, match=f"use benchmark://{today} instead"):
                    env.datasets[name]
            with pytest.raises(LookupError, match=f"use benchmark://{today} instead"):
                env.reset(benchmark=f"{old}/1")


def test_a_dataset_that_never_was_or_that_has_no_heir_gets_no_advice() -> None:
    assert old_datasets.advice_for("benchmark://github-v0", []) == ""
    assert old_datasets.advice_for("benchmark://mine-v0", ["benchmark://mine-v1"]) == ""
