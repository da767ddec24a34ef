# SPDX-License-Identifier: MIT
"""A GCC of 2015, which lists its parameters in another way, for a machine that is not this one."""

import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import RunCase, RunSpec
from compiler_gym.errors import ObservationError
from compiler_gym_gcc import (
    GccEnv,
    GccFlagAlignOption,
    GccFlagEnumOption,
    GccOOption,
    GccParamIntOption,
    make_benchmark_from_source,
)
from compiler_gym_gcc.toolchain.spec import get_spec

from .conftest import needed

GCC = "avr-gcc"
TEXT = """\
static int numbers[9];
int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
int main(void) {
  int sum = 0;
  for (int i = 0; i < 9; i++) sum += numbers[i] = fib(i);
  return sum;
}
"""
PROGRAM = make_benchmark_from_source(TEXT, ["-std=gnu99"], run=RunSpec((RunCase(),)))
Make = Callable[..., GccEnv]


@pytest.fixture
def env(make_env: Make) -> GccEnv:
    env = make_env(gcc_bin=GCC, benchmark=PROGRAM, reward_space="obj_size_os")
    env.reset()
    return env


def test_it_is_the_version_that_these_tests_are_about() -> None:
    version = subprocess.run(
        [needed(GCC), "-dumpversion"], capture_output=True, text=True, check=True
    ).stdout
    if not version.startswith("5."):
        pytest.skip(f"needs GCC 5, {GCC} is {version.strip()}")
    assert "5.4" in get_spec(GCC).version


def test_options_are_those_that_it_lists() -> None:
    def told(*words: str) -> str:
        return subprocess.run([needed(GCC), *words], capture_output=True, text=True).stdout

    ours = {option.name: option for option in get_spec(GCC).options}
    level = ours["-O"]
    assert isinstance(level, GccOOption)
    assert set(level) == {"-O0", "-O1", "-O2", "-O3", "-Ofast", "-Og", "-Os"}
    assert isinstance(ours["-falign-loops"], GccFlagAlignOption)
    rows = re.findall(
        r"^  ([\w-]+) +default (-?\d+) minimum (-?\d+) maximum (-?\d+)",
        told("-Q", "--help=params"),
        re.MULTILINE,
    )
    assert len(rows) > 120
    for name, default, low, high in rows:
        option = ours[f"--param={name}="]
        assert isinstance(option, GccParamIntOption)
        assert option.default == int(default)
        assert option.low == max(int(low), 0)
        assert option.high == int(high) or int(high) <= option.low
    flags = re.findall(r"^  (-f[a-z][\w-]+=?)", told("--help=optimizers"), re.MULTILINE)
    assert len(flags) > 150
    for name, words in re.findall(
        r"^  (-f[\w-]+=) +-f[\w-]+=\[(\S+)\]", told("--help=optimizers"), re.M
    ):
        option = ours[name]
        assert isinstance(option, GccFlagEnumOption)
        assert set(option.values) == set(words.split("|"))
    assert set(ours["-fvect-cost-model="]) == {
        f"-fvect-cost-model={word}" for word in ("cheap", "dynamic", "unlimited")
    }
    assert set(flags) - set(ours) <= {"-fhandle-exceptions"}


@pytest.mark.parametrize(
    "settings",
    [(), ("-Os",), ("-O3", "-fno-inline"), ("-O2", "--param=max-unroll-times=+10", "-fweb")],
    ids=" ".join,
)
def test_observations_equal_the_compilers_output(
    settings: tuple[str, ...], env: GccEnv, tmp_path: Path
) -> None:
    for setting in settings:
        *_, truncated, info = env.step(env.action_space[setting])
        assert not truncated, info
    (tmp_path / "src.i").write_text(env.source)
    subprocess.run(shlex.split(env.command_line), cwd=tmp_path, check=True)
    made = (tmp_path / "obj.o").read_bytes()
    assert (env.obj, env.obj_size) == (made, len(made))
    words = shlex.split(env.command_line.replace(" -c ", " -S ").replace("obj.o", "obj.s"))
    subprocess.run(words, cwd=tmp_path, check=True)
    assert env.asm == (tmp_path / "obj.s").read_text()
    assert env.instruction_counts["push"] == env.asm.count("\tpush ")
    assert "(insn" in env.rtl
    sizes = subprocess.run(
        ["avr-size", "-A", "obj.o"], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout
    code = re.findall(r"^\.text\S* +(\d+)", sizes, re.MULTILINE)
    assert env.text_size == sum(map(int, code)) > 0


def test_steps_of_each_action_space_compile(env: GccEnv) -> None:
    refused = 0
    for name in ("Categorical", "OptionThenValue"):
        env.reset(action_space=name)
        env.action_space.seed(0)
        for _ in range(15):
            action = env.action_space.sample(mask=env.action_masks().astype("int8"))
            *_, truncated, info = env.step(action, observation_spaces=["obj_size"])
            if truncated:  # such as Graphite, which it was built without
                assert info["error"] is not None
                refused += 1
                env.reset()
    assert refused < 10
    assert 0 < env.observation["obj_size_os"] < env.observation["obj_size_o3"]


def test_programs_for_another_machine_are_not_run_and_not_called_valid(env: GccEnv) -> None:
    env.step(env.action_space["-Os"])
    result = env.validate()
    assert result.okay()
    assert not result.benchmark_semantics_validated
    with pytest.raises(ObservationError, match="another machine"):
        env.observation["runtime_seconds"]
    assert env.obj_size > 0
