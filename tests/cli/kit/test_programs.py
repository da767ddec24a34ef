# SPDX-License-Identifier: MIT
"""Programs and states are read from the command line."""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import compiler_gym
from compiler_gym.cli.kit.programs import (
    SUFFIXES,
    detect_suffix,
    env_for,
    find_program,
    program_name,
    read_states,
)
from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.errors import BenchmarkInitError, StateFileError, UnknownNameError
from tests.command_line import write

IR = b"define i32 @f() {\n  ret i32 1\n}\n"


@pytest.fixture(scope="module")
def env() -> Iterator[CompilerEnv]:
    with compiler_gym.make("llvm-v0") as made:
        yield made


def typed(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_an_address_is_looked_up(env: CompilerEnv) -> None:
    assert str(find_program(env, "cbench-v1/crc32")) == "benchmark://cbench-v1/crc32"
    assert str(find_program(env, "cbench-v1/crc32?goal=speed")).endswith("crc32?goal=speed")
    with pytest.raises(UnknownNameError, match="no program 'nothing'"):
        find_program(env, "cbench-v1/nothing")


def test_a_path_is_a_file_with_or_without_a_query(
    env: CompilerEnv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.ll", "odd name#1.ll", "a?b=1.ll", "a%20b.ll", "h\udce9llo.ll"):
        (tmp_path / name).write_bytes(IR)
        assert find_program(env, name).contents == IR
    assert str(find_program(env, "./a.ll?goal=speed")) == f"file://{tmp_path}/a.ll?goal=speed"
    monkeypatch.setenv("HOME", str(tmp_path))
    assert str(find_program(env, "~/a.ll")) == f"file://{tmp_path}/a.ll"


@pytest.mark.parametrize(
    "name", ["./nothing", "/nowhere/a", "~/nothing", "missing.c", "missing.bc"]
)
def test_a_word_that_looks_like_a_path_must_exist(
    env: CompilerEnv, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(BenchmarkInitError, match=f"no such file: {name}"):
        find_program(env, name)


def test_standard_input_is_read_by_its_contents(
    env: CompilerEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(monkeypatch, IR)
    found = find_program(env, "-?goal=speed")
    assert found.contents == IR
    assert str(found) == "benchmark://user-v0/stdin?goal=speed"
    typed(monkeypatch, b" \n")
    with pytest.raises(BenchmarkInitError, match=r"standard input is empty: pass .* or "):
        find_program(env, "-")


@pytest.mark.parametrize(
    ("contents", "suffix"),
    [
        (b"BC\xc0\xde\x35", ".bc"),
        (IR, ".ll"),
        (b"; ModuleID = 'a'\ntarget triple = \"x\"\n", ".ll"),
        (b"int main(void) { return 0; }", ".c"),
    ],
)
def test_the_kind_of_a_program_is_recognised_by_its_contents(contents: bytes, suffix: str) -> None:
    assert detect_suffix(contents) == suffix
    assert suffix in SUFFIXES.split()


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
