# SPDX-License-Identifier: MIT
"""The compilers that are bundled fulfil the contract."""

import inspect

import pytest

from compiler_gym.lazy import named
from compiler_gym.registration import compilers
from compiler_gym.tuning import Tuner

TUNERS = [compiler.tuner for compiler in compilers().values() if compiler.tuner]


@pytest.mark.parametrize("place", TUNERS)
def test_a_tuner_has_what_the_contract_names(place: str) -> None:
    tuner = named(place)
    for name, member in inspect.getmembers(Tuner):
        if name.startswith("_"):
            continue
        found = getattr(tuner, name)
        if inspect.isfunction(member):
            assert list(inspect.signature(found).parameters) == list(
                inspect.signature(member).parameters
            )
