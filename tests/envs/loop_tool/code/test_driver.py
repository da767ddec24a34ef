# SPDX-License-Identifier: MIT
"""A machine without a card says so; what the driver refuses is named; with one, nests run."""

import ctypes
from typing import Any

import pytest

from compiler_gym.envs.loop_tool.code.driver import Card, is_available, open_card
from compiler_gym.envs.loop_tool.code.gpu import lower_gpu
from compiler_gym.envs.loop_tool.nests.descriptions import describe
from compiler_gym.envs.loop_tool.nests.reading import parse_program
from compiler_gym.envs.loop_tool.nests.reference import compare, random_inputs, reference_outputs
from compiler_gym.envs.loop_tool.nests.tree import Loop, Tree
from compiler_gym.errors import ObservationError, SessionError

needs_card = pytest.mark.skipif(not is_available(), reason="no card of NVIDIA's and its driver")


class Refusing:
    """A driver that initialises nothing."""

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return 100

    def cuGetErrorName(self, status: int, name: Any) -> int:  # noqa: N802
        name._obj.value = b"CUDA_ERROR_NO_DEVICE"
        return 0


def test_a_machine_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(ObservationError, match="libcuda"):
        open_card.__wrapped__()


def test_what_the_driver_refuses_is_named() -> None:
    with pytest.raises(SessionError, match=r"cuInit.*CUDA_ERROR_NO_DEVICE"):
        Card(Refusing())


@needs_card
def test_a_nest_runs_on_the_card() -> None:
    program = parse_program(describe("add", "a=100003"))
    kernels = lower_gpu(Tree(program, (Loop("a", 100003, 1, (0,), parallel=True),)))
    inputs = random_inputs(program)
    memory = {**inputs, "C": inputs["A"] * 0}
    assert open_card().run(kernels, list(memory.values()), repeats=3) > 0
    assert not compare(program, reference_outputs(program, inputs), {"C": memory["C"]})
