# SPDX-License-Identifier: MIT
"""A machine without a card says so; what the driver refuses is named; with one, nests run."""

import ctypes
from typing import Any

import pytest

from compiler_gym.errors import ObservationError, SessionError
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import compare, random_inputs, reference_outputs
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree
from compiler_gym_loop_tool.toolchain.code.driver import Card, is_available, open_card
from compiler_gym_loop_tool.toolchain.code.gpu import ARCHITECTURES, lower_gpu, ptx
from tests.stand_ins import always

needs_card = pytest.mark.skipif(not is_available(), reason="no card of NVIDIA's and its driver")


class Refusing:
    """A driver that initialises nothing."""

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return 100

    def cuGetErrorName(self, status: int, name: Any) -> int:  # noqa: N802
        name._obj.value = b"CUDA_ERROR_NO_DEVICE"
        return 0


def test_a_machine_without_a_driver_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    with pytest.raises(
        ObservationError, match=r"libcuda.*use a machine with a GPU .*loop_tool-cpu-v0"
    ):
        open_card.__wrapped__()


def test_a_refusal_by_the_driver_is_named() -> None:
    with pytest.raises(SessionError, match=r"cuInit.*CUDA_ERROR_NO_DEVICE"):
        Card(Refusing())


class Asked(Refusing):
    """A driver whose card has a compute capability."""

    def __init__(self, major: int, minor: int) -> None:
        self.capability = {75: major, 76: minor}

    def __getattr__(self, name: str) -> Any:
        return always(0)

    def cuInit(self, flags: int) -> int:  # noqa: N802
        return 0

    def cuDeviceGetAttribute(self, value: Any, number: int, device: Any) -> int:  # noqa: N802
        value._obj.value = self.capability[number]
        return 0


@pytest.mark.parametrize(
    ("capability", "architecture"),
    [
        ((7, 0), "sm_70"),
        ((9, 0), "sm_90"),
        ((8, 8), "sm_87"),
        ((13, 0), "sm_121"),
        ((6, 1), "sm_70"),
    ],
)
def test_ptx_is_for_the_newest_architecture_that_the_card_runs(
    capability: tuple[int, int], architecture: str
) -> None:
    assert Card(Asked(*capability)).architecture == architecture


def test_every_architecture_is_known_to_the_compiler(capfd: pytest.CaptureFixture[str]) -> None:
    kernels = lower_gpu(initial_tree(parse_program(describe("add", "a=8"))))
    for one in ARCHITECTURES:
        assert f".target sm_{one}" in ptx(kernels, f"sm_{one}")
    assert "not a recognized processor" not in capfd.readouterr().err


@needs_card
def test_a_nest_runs_on_the_card() -> None:
    program = parse_program(describe("add", "a=100003"))
    kernels = lower_gpu(Tree(program, (Loop("a", 100003, 1, (0,), parallel=True),)))
    inputs = random_inputs(program)
    memory = {**inputs, "C": inputs["A"] * 0}
    assert open_card().run(kernels, list(memory.values()), repeats=3) > 0
    assert not compare(program, reference_outputs(program, inputs), {"C": memory["C"]})
