# SPDX-License-Identifier: MIT
"""A session class may make another of itself for the options it is prepared with."""

from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.service import SessionSource, describe_source
from compiler_gym.service.zygote import prepare_session_class
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    DiscreteSpec,
    ObservationSpec,
    ScalarSpec,
)

THIS = f"{__name__}:SizedSession"


class SizedSession(CompilerSession):
    """Has as many actions as its options say."""

    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec("nothing", ScalarSpec()),
    )

    @classmethod
    def prepare(cls, options: dict[str, str]) -> type[CompilerSession]:
        size = int(options["size"])
        spaces = (ActionSpaceSpec("Numbers", DiscreteSpec(size)),)
        return type("Sized", (cls,), {"action_spaces": spaces})

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None: ...

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        return False, None, True

    def get_observation(self, name: str) -> Any:
        return 0.0


def test_options_decide_what_is_served_and_two_of_a_kind_do_not_mix() -> None:
    sources = [SessionSource(THIS, (("size", str(size)),)) for size in (3, 5)]
    for in_process in (True, False):
        offered = [describe_source(s, in_process=in_process).action_spaces for s in sources]
        assert [spaces[0].space for spaces in offered] == [DiscreteSpec(3), DiscreteSpec(5)]
    assert SizedSession.action_spaces == ()


def test_a_session_that_prepares_nothing_is_served_as_it_is() -> None:
    assert prepare_session_class("compiler_gym.testing.fakes:FakeSession", {}).__name__ == (
        "FakeSession"
    )
