# SPDX-License-Identifier: MIT
"""Options of the code generator as actions: part of the state, seen by sizes, cycles and runs."""

import pickle
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.actions.codegen_options import OPTIONS
from compiler_gym.errors import InvalidActionError, MinimizationError
from compiler_gym.search import Budget, run_search

MakeEnv = Callable[..., LlvmEnv]
SHA = "benchmark://cbench-v1/sha"
CHOSEN = {"disable-lsr": "true", "enable-ipra": "true", "regalloc": "basic"}
SPACES = ("Codegen", "CodegenOptions", "PassesAndCodegen", "PipelinesAndCodegen")


@pytest.fixture
def mixed(make_env: MakeEnv) -> LlvmEnv:
    env = make_env(action_space="PassesAndCodegen", benchmark=SHA)
    env.reset()
    return env


def take(env: LlvmEnv, *names: str) -> None:
    env.multistep([env.action_space[name] for name in names])


def by_shell(env: LlvmEnv, folder: Path) -> bytes:
    """Return the object that the command line of `env` makes of its program."""
    for tool in ("opt-22", "llc-22"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    with env.fork() as twin:
        twin.reset()
        twin.write_bitcode(folder / "input.bc")
    first, second = (part.split() for part in env.commandline().split(" | "))
    first, second = shlex.split(" ".join(first)), shlex.split(" ".join(second))
    made = subprocess.run(["opt-22", *first[1:]], cwd=folder, check=True, capture_output=True)
    subprocess.run(["llc-22", *second[1:]], cwd=folder, check=True, input=made.stdout)
    return (folder / "output.o").read_bytes()


def test_passes_and_options_mix_in_one_episode(mixed: LlvmEnv, tmp_path: Path) -> None:
    take(mixed, "sroa", "regalloc=basic", "instcombine", "disable-lsr=true", "simplifycfg")
    assert mixed.codegen == {"disable-lsr": "true", "regalloc": "basic"}
    text = mixed.commandline()
    assert text.endswith("-o - | llc -filetype=obj --disable-lsr=true --regalloc=basic -o output.o")
    code = by_shell(mixed, tmp_path)
    mixed.send_param("llvm.verify", "")
    size = mixed.observation["ObjectTextSizeBytes"]
    (tmp_path / "o.o").write_bytes(code)
    listing = subprocess.run(
        ["llvm-size-22", "-A", "o.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split() for line in listing.splitlines() if line.startswith(".text")]
    assert size == sum(int(row[1]) for row in rows)


def test_a_choice_costs_the_program_nothing_but_code(mixed: LlvmEnv) -> None:
    take(mixed, "sroa")
    before = mixed.observation["IrInstructionCount"], mixed.observation["ObjectTextSizeBytes"]
    hash_before = mixed.observation["IrHash"]
    take(mixed, "regalloc=basic")
    assert mixed.observation["IrInstructionCount"] == before[0]
    assert mixed.observation["ObjectTextSizeBytes"] != before[1]
    assert mixed.observation["IrHash"] != hash_before
    take(mixed, "regalloc=default")
    assert mixed.observation["IrHash"] == hash_before
    assert mixed.observation["ObjectTextSizeBytes"] == before[1]


def test_setting_what_is_set_has_no_effect(mixed: LlvmEnv) -> None:
    action = mixed.action_space["regalloc=basic"]
    assert not mixed.step(action)[-1]["action_had_no_effect"]
    assert mixed.step(action)[-1]["action_had_no_effect"]


@pytest.mark.parametrize("space", SPACES)
def test_choices_survive_forks_pickles_and_states(make_env: MakeEnv, space: str) -> None:
    env = make_env(action_space=space, benchmark=SHA)
    env.reset()
    env.codegen = CHOSEN
    assert env.codegen == CHOSEN
    seen = env.observation["IrHash"], env.observation["ObjectTextSizeBytes"]
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as copy:
        for twin in (fork, copy):
            assert (twin.observation["IrHash"], twin.observation["ObjectTextSizeBytes"]) == seen
            assert twin.codegen == CHOSEN
    other = make_env(action_space="Passes")
    other.apply(env.state)
    assert other.action_space.name == space
    assert (other.observation["IrHash"], other.observation["ObjectTextSizeBytes"]) == seen
    assert other.state.state_hash == env.state.state_hash


def test_all_options_are_set_at_once(make_env: MakeEnv) -> None:
    env = make_env(action_space="Codegen", benchmark=SHA)
    env.reset()
    env.action_space.seed(3)
    for _ in range(4):
        action = env.action_space.sample()
        env.step(action)
        assert (env.observation["CodegenChoices"] == action).all()
        names = dict(zip([o.name for o in OPTIONS], action, strict=True))
        assert env.codegen == {o.name: o.values[names[o.name]] for o in OPTIONS if names[o.name]}
    env.step(np.zeros(len(OPTIONS), dtype=np.int64))
    assert env.codegen == {}


def test_an_unavailable_choice_is_refused_and_changes_nothing(
    make_env: MakeEnv, mixed: LlvmEnv
) -> None:
    before = mixed.observation["IrHash"]
    for chosen in ({"regalloc": "slow"}, {"stats": "true"}):
        with pytest.raises(InvalidActionError, match=r"no option|cannot be|is not an llc"):
            mixed.codegen = chosen
    for text in ("opt a.bc -o - | llc --stats -o b.o", "opt a.bc -o - | sh -c x"):
        with pytest.raises(InvalidActionError, match=r"no option|cannot be|is not an llc"):
            mixed.commandline_to_actions(text)
    assert mixed.observation["IrHash"] == before
    assert mixed.actions == []
    env = make_env(action_space="Codegen", benchmark=SHA)
    env.reset()
    with pytest.raises(InvalidActionError, match="is not an action"):
        env.step([0] * (len(OPTIONS) - 1))
    with pytest.raises(InvalidActionError, match="is not an action of Codegen"):
        env.commandline_to_actions("opt -passes=dce input.bc -o output.bc")
    for space in ("Passes", "Marks", "Parameters"):
        env = make_env(action_space=space, benchmark=SHA)
        env.reset()
        with pytest.raises(InvalidActionError, match=f"{space} has no options of the code gen"):
            env.codegen = CHOSEN
    with pytest.raises(InvalidActionError, match="must be a dict of options by name"):
        env.codegen = None  # type: ignore[assignment]


def test_sessions_of_one_process_do_not_see_the_choices_of_each_other(make_env: MakeEnv) -> None:
    one, other = (
        make_env(action_space="CodegenOptions", benchmark=SHA, isolation="in-process")
        for _ in range(2)
    )
    one.reset()
    other.reset()
    plain = other.observation["ObjectTextSizeBytes"]
    one.codegen = CHOSEN
    for _ in range(2):
        assert one.observation["ObjectTextSizeBytes"] != plain
        assert other.observation["ObjectTextSizeBytes"] == plain


def test_cycles_instructions_and_programs_are_of_the_chosen_code(make_env: MakeEnv) -> None:
    env = make_env(action_space="CodegenOptions", benchmark="cbench-v1/qsort")
    env.reset()
    names = ["ObjectInstructionCount", "McaCycles"]
    if shutil.which("clang-22"):
        names.append("TextSizeBytes")
    before = [env.observation[name] for name in names]
    env.codegen = CHOSEN
    for name, value in zip(names, before, strict=True):
        assert env.observation[name] != value, name
    assert env.observation["ObjectTextSizeOz"] == make_fresh(make_env)


def make_fresh(make_env: MakeEnv) -> int:
    """Return the baseline where nothing was chosen."""
    env = make_env(benchmark="cbench-v1/qsort")
    env.reset()
    return env.observation["ObjectTextSizeOz"]


def test_a_program_with_choices_does_what_it_did(make_env: MakeEnv) -> None:
    env = make_env(action_space="PipelinesAndCodegen", benchmark="cbench-v1/sha")
    env.reset()
    take(env, "-Oz")
    env.codegen = CHOSEN
    assert env.behaviour_errors() == ()


def test_a_bug_report_wants_passes(make_env: MakeEnv, tmp_path: Path) -> None:
    env = make_env(action_space="Codegen", benchmark=SHA)
    env.reset()
    with pytest.raises(MinimizationError, match="cannot be written as an opt command"):
        env.write_bug_report(tmp_path)


def test_a_search_flips_settings_from_the_best_level(make_env: MakeEnv) -> None:
    def make() -> LlvmEnv:
        return make_env(reward_space="ObjectTextSizeOz", action_space="PipelinesAndCodegen")

    (found,) = run_search(make, ["cbench-v1/crc32"], budget=Budget(steps=40), jobs=1, seed=1)
    assert found.reward > 1
    assert found.action_names[0].startswith("-O")
    assert any("=" in name for name in found.action_names)
    assert "| llc" in found.commandline
