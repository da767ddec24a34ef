# SPDX-License-Identifier: MIT
import pytest

from compiler_gym import errors
from compiler_gym.explorer.problems import problem_of, status_of


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
    assert status_of(error) == status


def test_a_problem_tells_what_was_expected_and_found() -> None:
    problem = problem_of(errors.ExplorerError("port is 3: expected 4, found 3", next="ask for 4"))
    assert (problem.type, problem.expected, problem.found, problem.next) == (
        "ExplorerError",
        "4",
        "3",
        "ask for 4",
    )
    assert problem_of(ValueError()).message == "ValueError"
    assert len(problem_of(ValueError("x" * 10**6)).message) < 10**5
