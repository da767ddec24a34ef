# SPDX-License-Identifier: MIT
"""Compilers are found by their entry points, and asked what only they can know."""

import inspect
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest

import compiler_gym
from compiler_gym import registration
from compiler_gym.core import runs_program
from compiler_gym.errors import EnvironmentNotSupported, InvalidParameterError
from compiler_gym.registration import (
    C_SOURCE,
    COMPILER_GYM_ENVS,
    Compiler,
    EnvironmentId,
    ProgramFormat,
    Use,
    compilers,
    default_environment,
    find_compiler,
    make,
    program_formats,
    recommend_reward,
)

FORTRAN = ProgramFormat("Fortran", (".f90",))
STRANGER = Compiler(
    "ada", "A stranger's compiler", "strange.env:Env",
    (EnvironmentId("ada-v0", default_for=(Use.SEARCH,)), EnvironmentId("ada-v1")),
    formats=(C_SOURCE, FORTRAN),
)  # fmt: skip
OURS = Compiler(
    "zig", "A bundled compiler", "compiler_gym.envs.zig:Env",
    (EnvironmentId("zig-v0", default_for=(Use.COMMAND, Use.SEARCH)),), formats=(C_SOURCE,),
)  # fmt: skip


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Return what makes the given compilers the installed ones."""

    def installed(*found: Compiler) -> None:
        own = [one for one in found if one is OURS]
        entries = {one.name: SimpleNamespace(load=lambda one=one: one) for one in (*own, *found)}
        monkeypatch.setattr(registration, "parts", {"compilers": entries, "declarations": {}}.get)
        compilers.cache_clear()

    yield installed
    monkeypatch.undo()
    compilers.cache_clear()


def test_the_bundled_compilers_come_first_regardless_of_their_names(
    install: Callable[..., None],
) -> None:
    install(STRANGER, OURS)
    assert list(compilers()) == ["zig", "ada"]
    assert list(COMPILER_GYM_ENVS) == ["zig-v0", "ada-v0", "ada-v1"]
    assert (len(COMPILER_GYM_ENVS), COMPILER_GYM_ENVS[1]) == (3, "ada-v0")
    assert "ada-v1" in COMPILER_GYM_ENVS
    assert "llvm-v0" not in COMPILER_GYM_ENVS


def test_an_environment_is_of_the_compiler_that_registered_it(install: Callable[..., None]) -> None:
    install(STRANGER, OURS)
    assert find_compiler("ada-v1") is find_compiler("compiler_gym/ada-v1") is STRANGER
    assert find_compiler("CartPole-v1") is None


@pytest.mark.parametrize(
    ("found", "use", "id"),
    [
        ((STRANGER, OURS), Use.SEARCH, "zig-v0"),
        ((STRANGER,), Use.SEARCH, "ada-v0"),
        ((STRANGER, OURS), Use.COMMAND, "zig-v0"),
    ],
)
def test_the_first_that_serves_a_use_is_its_default(
    install: Callable[..., None], found: Sequence[Compiler], use: Use, id: str
) -> None:
    install(*found)
    assert default_environment(use) == id


def test_a_use_without_a_provider_is_an_error(install: Callable[..., None]) -> None:
    install(STRANGER)
    with pytest.raises(EnvironmentNotSupported, match="for learning: name an environment"):
        default_environment(Use.LEARNING)


def test_a_format_that_two_compilers_read_is_listed_once(install: Callable[..., None]) -> None:
    install(STRANGER, OURS)
    assert program_formats() == (C_SOURCE, FORTRAN)


def test_every_installed_compiler_has_a_default_for_what_the_commands_need() -> None:
    assert default_environment() in COMPILER_GYM_ENVS
    found = {one.name for id in COMPILER_GYM_ENVS if (one := find_compiler(id)) is not None}
    assert found == set(compilers())


def test_an_environment_is_made_without_wrappers() -> None:
    with make("compiler_gym/llvm-v0") as env:
        assert env.unwrapped is env
    with pytest.raises(InvalidParameterError, match=r"wrappers\.TimeLimit\(env, steps\)"):
        make("llvm-v0", max_episode_steps=3)
    with pytest.raises(gymnasium.error.NameNotFound, match="nothing"):
        make("nothing-v0")


def test_the_compiler_loads_while_the_environment_is_imported_and_only_if_it_is_needed() -> None:
    program = (
        "import sys, compiler_gym; from compiler_gym.service import supervisor\n"
        "start, loaded = supervisor.start_zygote, []\n"
        "def noted(source):\n"
        "    loaded.append('gymnasium' in sys.modules)\n"
        "    return start(source)\n"
        "supervisor.start_zygote = noted\n"
        "compiler_gym.make('llvm-v0', isolation=sys.argv[1]).close()\n"
        "print(loaded, len(supervisor._zygotes))"
    )
    shown = [
        subprocess.run(
            [sys.executable, "-c", program, isolation], capture_output=True, text=True, check=True
        ).stdout.strip()
        for isolation in ("process", "in-process")
    ]
    assert shown == ["[False, True] 1", "[] 0"]


def test_wrappers_go_around_each_environment_of_a_vector() -> None:
    seen: list[Any] = []

    def note(env: Any) -> Any:
        seen.append(env)
        return env

    envs = compiler_gym.make_vec(
        "llvm-v0",
        2,
        wrappers=[note],
        reward_space="IrInstructionCount",
        observation_space="Autophase",
    )
    try:
        assert envs.num_envs == 2
        assert len(seen) >= 2
    finally:
        envs.close()


SCRIPT = Path(__file__).with_name("typed_script.py")


def test_a_users_first_script_runs() -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, check=True, timeout=120
    )
    assert "opt " in done.stdout


def test_a_hover_of_make_shows_its_keywords_and_an_example() -> None:
    parameters = inspect.signature(compiler_gym.make).parameters
    documented = compiler_gym.make.__doc__ or ""
    for name in ("benchmark", "observation_space", "reward_space", "action_space", "limits"):
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert f"        {name}: " in documented
    assert ">>> env = compiler_gym.make(" in documented


def test_a_keyword_that_is_not_given_is_as_the_id_says() -> None:
    with compiler_gym.make("llvm-autophase-ic-v0") as env:
        assert env.observation_space is not None
    with compiler_gym.make("llvm-autophase-ic-v0", observation_space=None) as env:
        assert env.observation_space is None
        assert env.reward_space is not None


def test_observations_derived_from_runs_are_runs() -> None:
    with make("llvm-v0") as env:
        env.observation.add_derived_space("Halved", "Runtime")
        assert runs_program(env, "Halved")
        assert runs_program(env, "RuntimeInstructionsOz")
        assert not runs_program(env, "AutophaseDict")
        assert recommend_reward("llvm-v0", env) == "IrInstructionCountOz"
    with make("llvm-codesize-v0") as env:
        assert recommend_reward("llvm-codesize-v0", env) == "ObjectTextSizeOz"
    with make("loop_tool-v0") as env:  # made with a reward that is measured
        assert recommend_reward("loop_tool-v0", env) == "flops_deterministic"
