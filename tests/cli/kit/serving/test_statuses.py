# SPDX-License-Identifier: MIT
import pytest

from compiler_gym import errors
from compiler_gym.cli.kit.serving import choose_status


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (errors.ExplorerError("x", status=418), 418),
        (errors.UnknownNameError("x"), 404),
        (errors.BenchmarkNotFoundError("x"), 404),
        (errors.BenchmarkInitError("x"), 400),
        (errors.InvalidActionError("x"), 400),
        (errors.ObservationError("x"), 422),
        (errors.WorkerTimeoutError("x"), 504),
        (errors.WorkerCrashedError("x"), 502),
        (RuntimeError("x"), 500),
    ],
)
def test_the_status_says_whose_fault_it_is(error: Exception, status: int) -> None:
    assert choose_status(error) == status
