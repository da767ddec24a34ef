# SPDX-License-Identifier: MIT
"""What a servicer says of a session that fails when it is looked at."""

from pathlib import Path
from typing import Any

from compiler_gym.errors import CompilerDiagnosticError
from compiler_gym.service.messages import Failed, Resume, Start, Started, Step
from compiler_gym.service.servicer import Servicer
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    DiscreteSpec,
    ObservationSpec,
    ScalarSpec,
)


class LazySession(CompilerSession):
    """Works when it is looked at, and fails after the action 1."""

    action_spaces = (ActionSpaceSpec("Numbers", DiscreteSpec(2)),)
    observation_spaces = (ObservationSpec("sum", ScalarSpec(0, None, "int"), default=0),)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        self.sum = 0

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        self.sum += action
        return False, None, False

    def get_observation(self, name: str) -> Any:
        if self.sum:
            raise CompilerDiagnosticError("error: 1 is too much")
        return self.sum


def test_actions_before_an_observation_that_fails_count_as_applied(tmp_path: Path) -> None:
    servicer = Servicer(LazySession, lambda: tmp_path / "session")
    servicer.handle(Start(BenchmarkSpec("benchmark://x-v0/1", b""), None, [], {}))
    reply = servicer.handle(Step([0, 1, 0], ["sum"]))
    assert isinstance(reply, Failed)
    assert (reply.kind, reply.applied) == ("CompilerDiagnosticError", 3)


def test_cached_values_are_not_computed_again(tmp_path: Path) -> None:
    servicer = Servicer(LazySession, lambda: tmp_path / "session")
    servicer.handle(Start(BenchmarkSpec("benchmark://x-v0/1", b""), None, [], {}))
    servicer.remember(["sum", "no such observation"])
    session: Any = servicer.session
    session.sum = 5  # it would fail if it was looked at
    assert servicer.handle(Resume(["sum"])) == Started(None, [0])


def test_uncacheable_values_are_only_computed_on_request(tmp_path: Path) -> None:
    servicer = Servicer(LazySession, lambda: tmp_path / "session")
    servicer.handle(Start(BenchmarkSpec("benchmark://x-v0/1", b""), None, [], {}))
    servicer.handle(Step([1], []))
    servicer.remember(["sum"])
    reply = servicer.handle(Resume(["sum"]))
    assert isinstance(reply, Failed)
    assert reply.kind == "CompilerDiagnosticError"


def test_a_session_whose_process_ends_is_left_and_not_closed(tmp_path: Path) -> None:
    ends: list[str] = []

    class Large(LazySession):
        def close(self) -> None:
            ends.append("closed")

        def leave(self) -> None:
            ends.append("left")

    servicer = Servicer(Large, lambda: tmp_path / "session")
    for leaves in (False, True):
        servicer.handle(Start(BenchmarkSpec("benchmark://x-v0/1", b""), None, [], {}))
        servicer.stop(leaves=leaves)
    assert ends == ["closed", "left"]
