# SPDX-License-Identifier: MIT
"""States are read as far as they go, each with the environment it was recorded in."""

from pathlib import Path

import pytest

from compiler_gym.cli.kit.state_files import env_for, program_name, read_states
from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import StateFileError
from tests.command_line import write

STATES = [CompilerEnvState(f"benchmark://cbench-v1/{name}", "sroa") for name in ("crc32", "sha")]


def test_states_come_in_the_order_of_their_files(tmp_path: Path) -> None:
    files = [write(tmp_path / f"{n}.jsonl", [state]) for n, state in enumerate(STATES)]
    assert read_states(files[::-1]) == (STATES[::-1], None)
    assert read_states([]) == ([], None)


def test_rows_before_damage_are_kept(tmp_path: Path) -> None:
    path = Path(write(tmp_path / "s.jsonl", STATES))
    path.write_text(path.read_text()[:-20])
    states, damage = read_states([str(path)])
    assert states == STATES[:1]
    assert isinstance(damage, StateFileError)
    states, damage = read_states([str(tmp_path / "nothing.jsonl")])
    assert states == []
    assert damage is not None


@pytest.mark.parametrize(
    ("environment", "env", "reward", "id", "earned"),
    [
        (None, None, None, "llvm-v0", None),
        ("llvm-ic-v0", None, None, "llvm-ic-v0", "IrInstructionCountOz"),
        ("llvm-ic-v0", "llvm-v0", None, "llvm-v0", None),
        ("llvm-ic-v0", None, "ObjectTextSizeO3", "llvm-ic-v0", "ObjectTextSizeO3"),
    ],
)
def test_the_user_chooses_before_the_state_and_the_state_before_the_default(
    environment: str | None, env: str | None, reward: str | None, id: str, earned: str | None
) -> None:
    with env_for(environment, env, reward)() as made:
        assert made.spec is not None
        assert made.spec.id == id
        assert (made.reward_space.name if made.reward_space else None) == earned


def test_the_scheme_that_most_programs_have_is_left_out() -> None:
    assert program_name("benchmark://cbench-v1/crc32") == "cbench-v1/crc32"
    assert program_name("generator://csmith-v0/7") == "generator://csmith-v0/7"
