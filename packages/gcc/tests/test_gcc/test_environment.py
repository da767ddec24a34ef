# SPDX-License-Identifier: MIT
"""What users of the GCC environment hold, compared with GCC itself."""

import itertools
import pickle
import shlex
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.datasets import RunCase, RunSpec
from compiler_gym.errors import InvalidActionError, InvalidParameterError, ObservationError
from compiler_gym_gcc import GccEnv, make_benchmark_from_source

Make = Callable[..., GccEnv]
SETTINGS = [
    (),
    ("-O2",),
    ("-Os", "-fno-gcse"),
    ("-O3", "--param=max-unroll-times=+10", "-fira-region=all"),
    ("-O1", "-falign-loops=32", "-flive-patching=inline-clone"),
]


def by_gcc(env: GccEnv, folder: Path) -> Path:
    """Run the environment's own command line on its own source."""
    (folder / "src.i").write_text(env.source)
    subprocess.run(shlex.split(env.command_line), cwd=folder, check=True)
    return folder / "obj.o"


@pytest.mark.parametrize("settings", SETTINGS, ids=" ".join)
def test_observations_equal_gccs_output(
    settings: tuple[str, ...], gcc_bin: str, make_env: Make, tmp_path: Path
) -> None:
    env = make_env(gcc_bin=gcc_bin)
    env.reset()
    for setting in settings:
        *_, truncated, info = env.step(env.action_space[setting])
        assert not truncated, info
    made = by_gcc(env, tmp_path).read_bytes()
    assert env.obj == made
    assert env.obj_size == len(made)
    assert env.obj_hash == subprocess.run(
        ["sha1sum"], input=made, capture_output=True, check=True
    ).stdout.decode().split()[0]  # fmt: skip
    words = shlex.split(env.command_line.replace(" -c ", " -S ").replace("obj.o", "obj.s"))
    subprocess.run(words, cwd=tmp_path, check=True)
    assert env.asm == (tmp_path / "obj.s").read_text()
    assert env.asm_size == (tmp_path / "obj.s").stat().st_size


def test_sections_with_code_are_counted_as_objdump_lists_them(env: GccEnv, tmp_path: Path) -> None:
    for level in ("-O0", "-O2", "-Os"):
        env.step(env.action_space[level])
        by_gcc(env, tmp_path)
        listed = subprocess.run(
            ["objdump", "-h", "obj.o"], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout.splitlines()
        rows = itertools.pairwise(listed)
        assert env.text_size == sum(
            int(row.split()[2], 16) for row, flags in rows if "CODE" in flags
        )


def test_mnemonics_are_counted_as_objdump_disassembles_them(env: GccEnv, tmp_path: Path) -> None:
    env.step(env.action_space["-O2"])
    by_gcc(env, tmp_path)
    lines = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "obj.o"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    found = Counter(line.split("\t")[1].split()[0] for line in lines if line.startswith(" "))
    ours = env.instruction_counts
    for mnemonic in ("call", "ret", "push", "pop", "lea"):
        written = sum(ours.get(mnemonic + size, 0) for size in ("", "q", "l", "w", "b"))
        assert written == found[mnemonic], mnemonic


def test_rtl_is_that_of_the_settings(env: GccEnv) -> None:
    plain = env.rtl
    assert ";; Function main" in plain
    env.step(env.action_space["-O2"])
    assert env.rtl != plain
    assert "0x7f" not in env.rtl


def test_a_program_of_several_files_is_one_object(make_env: Make, tmp_path: Path) -> None:
    env = make_env(benchmark="cbench-v1/rijndael")
    env.reset()
    (tmp_path / "all.o").write_bytes(env.obj)
    names = subprocess.run(
        ["nm", "all.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    assert " T main" in names
    assert env.asm.count(".ident") == 2
    assert env.obj_size == len(env.obj)


def test_baselines_are_levels_and_nothing_else(env: GccEnv) -> None:
    env.step(env.action_space["-fno-inline"])
    for level in ("o0", "o1", "o2", "o3", "os"):
        with compiler_gym.make("gcc-v0", gcc_bin="gcc-12", benchmark="cbench-v1/crc32") as other:
            other.reset()
            other.step(other.action_space[f"-O{level[1:]}"])
            for cost in ("asm_size", "obj_size", "text_size"):
                assert env.observation[f"{cost}_{level}"] == other.observation[cost]


def test_rewards_are_what_was_saved_plain_and_scaled(make_env: Make) -> None:
    env = make_env(reward_space="obj_size")
    env.reset()
    before = env.obj_size
    _, reward, *_ = env.step(env.action_space["-Os"])
    assert reward == before - env.obj_size == before - env.observation["obj_size_os"] > 0
    assert [env.reset(reward_space="obj_size_os"), env.step(env.action_space["-Os"])][1][1] == 1.0
    env.reset(reward_space="text_size_o3")
    _, reward, *_ = env.step(env.action_space["-O3"])
    assert reward == 1.0


def test_choices_can_be_read_and_set(make_env: Make) -> None:
    env = make_env(reward_space="obj_size")
    env.reset()
    assert env.choices == [-1] * len(env.gcc_spec.options)
    choices = list(env.choices)
    level = env.gcc_spec.options[0].index("-Os")
    choices[0] = level
    env.choices = choices
    assert env.choices == choices
    assert env.command_line.startswith("gcc-12 -Os -w")
    assert env.episode_reward == env.observation["obj_size_o0"] - env.obj_size
    choices[0] = -1
    env.choices = choices
    assert env.obj_size == env.observation["obj_size_o0"]


@pytest.mark.parametrize("wrong", [-2, 99, 10**30, 0.5, "0", None])
def test_choices_that_do_not_exist_are_refused(env: GccEnv, wrong: object) -> None:
    choices: list[Any] = [wrong, *env.choices[1:]]
    with pytest.raises(InvalidActionError, match=r"must be from -1 to 7|whole numbers"):
        env.choices = choices
    assert env.in_episode
    assert env.actions == []


@pytest.mark.parametrize("wrong", [[], [0], [-1] * 10_000, "short", None, 7])
def test_choices_are_one_for_each_option(env: GccEnv, wrong: Any) -> None:
    with pytest.raises(InvalidActionError, match=r"one for each option"):
        env.choices = wrong
    assert env.in_episode


def test_choices_that_were_set_survive_a_pickle_a_fork_and_a_state(make_env: Make) -> None:
    env = make_env(reward_space="obj_size")
    env.reset()
    choices = list(env.choices)
    number = next(i for i, o in enumerate(env.gcc_spec.options) if o.name == "-fgcse")
    far = next(
        i for i, o in enumerate(env.gcc_spec.options) if o.name == "--param=max-gcse-memory="
    )
    choices[0], choices[number], choices[far] = 2, 1, 5
    env.choices = choices
    env.step(env.action_space["-fno-inline"])
    with pickle.loads(pickle.dumps(env)) as twin, env.fork() as fork, make_env() as other:
        other.reward_space = "obj_size"
        other.apply(env.state)
        for copy in (twin, fork, other):
            assert copy.choices == env.choices
            assert copy.commandline() == env.commandline() == env.command_line
        assert other.state == env.state


def test_a_command_line_becomes_actions_again(env: GccEnv) -> None:
    text = "gcc -Os -fno-gcse -falign-loops=16 --param max-unroll-times=12 -w -c src.c -o obj.o"
    actions = env.commandline_to_actions(text)
    env.multistep(actions)
    assert env.commandline() == (
        "gcc-12 -Os -falign-loops=16 -fno-gcse --param=max-unroll-times=12 "
        "-w -std=c11 -c src.i -o obj.o"
    )
    assert env.commandline_to_actions(env.commandline()) == env.commandline_to_actions(text)
    with pytest.raises(InvalidActionError, match="is not a setting of this compiler"):
        env.commandline_to_actions("gcc -O2 -fno-such-flag")
    with pytest.raises(InvalidActionError, match="takes too many actions"):
        env.commandline_to_actions("gcc --param=max-gcse-memory=2000000000")


@pytest.mark.parametrize(
    "behind",
    [
        "; rm -rf x", ";id", " && id", " | sh", " > x", " >x", "\nrm -rf x", " `id`", " $(id)",
        " # id", " # choosing rm", " # choosing -O; id", " other.o", " -fplugin=evil.so", " -O3",
        " 'a b'", " -o x", "\0",
    ],
)  # fmt: skip
def test_nothing_follows_a_command(env: GccEnv, behind: str) -> None:
    for text in ("gcc-12 -Os -w -std=c11 -c src.i -o obj.o", "gcc -O2 -w", "-Os -fno-gcse"):
        env.commandline_to_actions(text)
        if behind == " -O3" and "obj.o" not in text:
            continue  # it is one of the settings there
        with pytest.raises(InvalidActionError):
            env.commandline_to_actions(text + behind)


@pytest.mark.parametrize(
    "text",
    [
        "rm -O2", "sudo gcc -O2", "gcc;id -O2", "$(id) -O2", "id;gcc -O2", "gcc -O2;id -w",
        "gcc -O2 -w -fplugin=evil.so -c src.i -o obj.o", "gcc -O2 -w -wrapper id -c src.i -o obj.o",
        "gcc -O2 -w -c $(id) -o obj.o", "gcc -O2 -w -c src.i -o `id`",
        "gcc -O2 -w -Bevil -c a -o b",
        "gcc -O2 -w @evil -c src.i -o obj.o",
    ],
)  # fmt: skip
def test_nothing_stands_before_or_within_a_command(env: GccEnv, text: str) -> None:
    with pytest.raises(InvalidActionError):
        env.commandline_to_actions(text)


def test_nothing_is_compiled_before_something_is_observed(
    make_env: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_SANDBOX", "none")  # the log is no file of a box
    log = tmp_path / "log"
    wrapper = tmp_path / "gcc"
    wrapper.write_text(f'#!/bin/sh\necho "$@" >> {log}\nexec gcc-12 "$@"\n')
    wrapper.chmod(0o755)
    env = make_env(gcc_bin=str(wrapper))
    env.reset()
    asked = log.read_text()
    assert " -E " in asked
    for _ in range(20):
        env.step(env.action_space.sample())
    env.reset()
    env.step(env.action_space["-O2"])
    assert log.read_text() == asked
    sizes = {env.obj_size, env.observation["obj_size"], env.observation["obj_size_o2"]}
    assert len(sizes) == 1
    assert len(env.asm) == env.asm_size
    assert log.read_text().removeprefix(asked).count(" -c ") == 1
    assert " -S " not in log.read_text()
    with make_env(gcc_bin=str(wrapper)) as other:  # another worker: known from the disk
        other.reset()
        other.step(other.action_space["-O2"])
        assert {other.obj_size} == sizes
    assert log.read_text().removeprefix(asked).count(" -c ") == 1


def test_masks_say_which_actions_do_something(make_env: Make) -> None:
    env = make_env(action_space="OptionThenValue")
    env.reset()
    options = env.gcc_spec.options
    mask = env.action_masks()
    assert mask.sum() == len(options) <= len(mask) == env.action_space.n
    number = next(i for i, o in enumerate(options) if o.name == "-fgcse")
    env.step(number)
    assert env.action_masks().sum() == 3
    assert env.command_line.endswith("# choosing -fgcse")
    *_, info = env.step(7)
    assert info["action_had_no_effect"]
    assert env.choices == [-1] * len(options)
    env.step(2)
    assert env.choices[number] == 1
    assert env.action_masks().sum() == len(options)
    sampled = env.action_space.sample(mask=env.action_masks().astype("int8"))
    assert env.action_masks()[sampled]


def test_a_mask_fits_the_other_spaces_or_reports_it(make_env: Make) -> None:
    env = make_env()
    env.reset()
    assert env.action_masks().all()
    env.reset(action_space="Choices")
    with pytest.raises(InvalidActionError, match="has no action masks"):
        env.action_masks()


def test_the_space_is_about_as_large_as_it_was(make_env: Make) -> None:
    env = make_env(gcc_bin="gcc-11")
    assert 2000 < env.action_space.n < 3000
    assert len(env.gcc_spec.options) > 500


def test_a_cxx_program_is_compiled_linked_and_run(make_env: Make) -> None:
    source = """
        #include <iostream>
        #include <vector>
        int main() { std::vector<int> v(3, 7); for (int i : v) std::cout << i; std::cout << '\\n'; }
    """
    run = RunSpec((RunCase(),))
    env = make_env(benchmark=make_benchmark_from_source(source, lang="c++", run=run))
    env.reset()
    env.step(env.action_space["-O2"])
    assert "_ZNSolsEi" in env.asm
    assert env.validate().benchmark_semantics_validated
    assert len(env.observation["runtime"]) == 1


def test_the_time_of_a_program_is_measured(make_env: Make) -> None:
    env = make_env(benchmark="cbench-v1/bitcount")
    env.runtime_observation_count, env.runtime_warmup_runs_count = 2, 1
    env.reset()
    times = env.observation["runtime"]
    assert len(times) == 2
    assert all(0 < seconds < 10 for seconds in times)
    env.runtime_observation_count = 1
    assert len(env.observation["runtime"]) == 1
    with pytest.raises(InvalidParameterError, match="a whole number of at least 1"):
        env.runtime_observation_count = 0


def test_instructions_that_a_program_retires_fall_with_optimisation(make_env: Make) -> None:
    env = make_env(benchmark="cbench-v1/bitcount", reward_space="runtime_instructions")
    env.reset()
    _, reward, *_, info = env.step(env.action_space["-O2"])
    assert reward > 0, info
    assert env.observation["runtime_instructions"] == env.observation["runtime_instructions_o2"]


def test_a_program_without_a_run_spec_reports_it(make_env: Make) -> None:
    env = make_env(benchmark=make_benchmark_from_source("int main(void) { return 0; }"))
    env.reset()
    with pytest.raises(ObservationError, match="has no RunSpec"):
        env.observation["runtime"]
    assert env.in_episode


def test_a_rendering_shows_the_command_and_the_assembly(make_env: Make) -> None:
    env = make_env(render_mode="ansi")
    env.reset()
    env.step(env.action_space["-O2"])
    text = env.render()
    assert text is not None
    assert text.startswith("# benchmark://cbench-v1/crc32 after 1 action\ngcc-12 -O2 ")
    assert env.asm in text
