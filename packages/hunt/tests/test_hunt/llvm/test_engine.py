# SPDX-License-Identifier: MIT
"""A pass that crashes or hangs costs its own question, and nothing is left of the engine."""

import os

import pytest

from compiler_gym_hunt.llvm import engine as engine_module
from compiler_gym_hunt.llvm.engine import Engine

from .conftest import ADDS


def test_a_question_is_answered(engine: Engine) -> None:
    answer = engine.ask("gap", ADDS.encode(), "default<Oz>", "instructions")
    assert answer.failure == ""
    assert answer.value[0] == answer.value[1] > 0


def test_a_refusal_by_llvm_is_a_reason_and_not_the_end(engine: Engine) -> None:
    assert "no-such-pass" in engine.ask("gap", ADDS.encode(), "no-such-pass", "size").failure
    assert engine.ask("gap", b"not IR", "default<Oz>", "size").failure
    assert engine.ask("gap", ADDS.encode(), "default<Oz>", "size").failure == ""


def test_a_question_that_takes_too_long_is_ended(engine: Engine) -> None:
    answer = engine.ask("gap", ADDS.encode(), "default<Oz>", "size", seconds=0.0)
    assert answer.failure == "no answer within 0 s"


@pytest.mark.parametrize(("number", "said"), [(11, "signal 11"), (0, "status 0")])
def test_a_crash_is_recognised_by_its_signal(number: int, said: str) -> None:
    def crash() -> None:
        if number:
            os.kill(os.getpid(), number)
        os._exit(0)  # pyright: ignore[reportPrivateUsage]  # the fork that is tested

    answer = engine_module._in_fork(crash, 10.0)  # pyright: ignore[reportPrivateUsage]
    assert answer == (None, f"LLVM crashed: {said}")


def test_no_process_outlives_the_engine() -> None:
    with Engine() as made:
        process = made._process  # pyright: ignore[reportPrivateUsage]
        assert process.poll() is None
    assert process.poll() is not None
