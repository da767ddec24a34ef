# SPDX-License-Identifier: MIT

from compiler_gym import errors
from compiler_gym_explorer.problems import make_problem


def test_a_problem_tells_what_was_expected_and_found() -> None:
    problem = make_problem(errors.ExplorerError("port is 3: expected 4, found 3", next="ask for 4"))
    assert (problem.type, problem.expected, problem.found, problem.next) == (
        "ExplorerError",
        "4",
        "3",
        "ask for 4",
    )
    problem = make_problem(errors.ExplorerError("port must be 4 (got 3): stop the other server"))
    assert (problem.expected, problem.found) == ("4", "3")
    assert make_problem(ValueError()).message == "ValueError"
    assert len(make_problem(ValueError("x" * 10**6)).message) < 10**5
