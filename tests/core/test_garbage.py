# SPDX-License-Identifier: MIT
"""The collector is off while something large is made, and as it was afterwards."""

import gc

import pytest

from compiler_gym.core import pause_collection


def test_the_collector_is_off_inside_and_on_again_after_an_error() -> None:
    def fail_inside() -> None:
        with pause_collection():
            assert not gc.isenabled()
            raise ValueError("inside")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="inside"):
        fail_inside()
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with pause_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
