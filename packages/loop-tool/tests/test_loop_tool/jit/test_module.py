# SPDX-License-Identifier: MIT
"""A build without the extension says so, when it is asked for."""

import sys

import pytest

from compiler_gym.errors import ObservationError
from compiler_gym_loop_tool.jit._module import jit_module


def test_a_build_without_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert jit_module().thread_count() >= 1
    monkeypatch.setitem(sys.modules, "compiler_gym._jit", None)
    with pytest.raises(ObservationError, match=r"pip install 'compiler-gym-next\[jit\]'"):
        jit_module()
