# SPDX-License-Identifier: MIT
"""The contract: records that cross the process border, and a session's defaults."""

from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    BoxSpec,
    CommandlineSpec,
    CompilerSession,
    DictSpec,
    DiscreteSpec,
    FlagSpec,
    ObservationSpaceSpec,
    PermutationSpec,
    ScalarSpec,
    SpaceSequenceSpec,
    SpaceSpec,
    TextSpec,
    TupleSpec,
)

SPACES: list[Any] = [
    DiscreteSpec(3, start=-1),
    CommandlineSpec((FlagSpec("O2", "-O2"),), style="opt"),
    BoxSpec(-1.0, 1.0, (2, -1), "float32"),
    ScalarSpec(0, None, "int"),
    DictSpec({"a": TupleSpec((TextSpec(), PermutationSpec(3)))}),
    SpaceSequenceSpec(DiscreteSpec(2), max_length=4),
]


class Least(CompilerSession):
    """What a session must define, and nothing else."""

    action_spaces: ClassVar = (ActionSpaceSpec("all", DiscreteSpec(1)),)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        pass

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        return False, None, True

    def get_observation(self, name: str) -> Any:
        return name


@pytest.mark.parametrize("spec", SPACES, ids=lambda spec: type(spec).__name__)
def test_a_description_crosses_the_border_as_itself(spec: Any) -> None:
    packed = msgspec.msgpack.encode(spec)
    assert msgspec.msgpack.decode(packed, type=SpaceSpec) == spec
    observation = ObservationSpaceSpec("x", spec, default=[1])
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(observation), type=ObservationSpaceSpec)
    assert again == observation


def test_a_record_does_not_change() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        DiscreteSpec(3).n = 4  # type: ignore[misc]  # what is tried


def test_a_tag_of_no_kind_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="Invalid value 'magic'"):
        msgspec.msgpack.decode(msgspec.msgpack.encode({"type": "magic"}), type=SpaceSpec)


def test_optional_methods_of_a_session_do_nothing(tmp_path: Path) -> None:
    assert Least.prepare({"path": "x"}) is None
    assert Least.forkable
    session = Least(tmp_path, Least.action_spaces[0], BenchmarkSpec("benchmark://a-v0/1", b""))
    assert session.handle_session_parameter("key", "value") is None
    assert session.initial_action_space is None
    session.moved(tmp_path / "there")
    session.close()


def test_a_session_that_leaves_something_out_cannot_be_made(tmp_path: Path) -> None:
    class Partial(CompilerSession):
        pass

    with pytest.raises(TypeError, match="apply_action"):
        Partial(tmp_path, Least.action_spaces[0], BenchmarkSpec("benchmark://a-v0/1", b""))  # type: ignore[abstract]
