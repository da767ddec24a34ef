# SPDX-License-Identifier: MIT
"""The types that a checker sees are those of the values, and a user's program has them."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations import typed
from docs.typed_names import TYPED, with_names

PROGRAM = """
from typing import Any, assert_type

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv

env = LlvmEnv(observation_space="Autophase", reward_space="IrInstructionCountOz")
observation, info = env.reset()
assert_type(info, dict[str, Any])
assert_type(env.observation["IrInstructionCount"], int)
assert_type(env.observation["Ir"], str)
assert_type(env.observation["McaCyclesInitial"], float)
size: int = env.observation["Autophase"].size
name: str = input()
assert_type(env.observation[name], Any)
made = compiler_gym.make("llvm-v0")
assert_type(made.reset()[1], dict[str, Any])
"""
WRONG = PROGRAM + 'text: str = env.observation["IrInstructionCount"]\n'


@pytest.mark.parametrize(
    ("names", "kind"),
    [(typed.Arrays, np.ndarray), (typed.Integers, int), (typed.Floats, float),
     (typed.Flags, bool), (typed.Texts, str), (typed.Records, dict)],
)  # fmt: skip
def test_each_name_has_the_type_of_its_values(names: Any, kind: type) -> None:
    with LlvmEnv() as env:
        found = {n for n, s in env.observation.spaces.items() if type(s.default_value) is kind}
        scalars = {n: s.sent_as for n, s in env.observation.spaces.items()}
    if kind in (int, float):
        wanted = "int" if kind is int else "float"
        derived = {name for name in found if scalars[name] is None}
        found = derived | {n for n, s in scalars.items() if getattr(s, "dtype", None) == wanted
                 and type(s).__name__ == "ScalarSpec"}  # fmt: skip
    assert set(get_args(names)) == found


def test_the_lists_are_those_that_make_docs_writes() -> None:
    with LlvmEnv() as env:
        assert TYPED.read_text() == with_names(TYPED, env)


def test_a_name_that_is_missing_in_a_list_is_written(tmp_path: Path) -> None:
    stale = tmp_path / "typed.py"
    stale.write_text(TYPED.read_text().replace('    "Autophase",\n', "").replace('"Ir", ', ""))
    with LlvmEnv() as env:
        assert with_names(stale, env) == TYPED.read_text()


def test_the_package_says_that_it_is_typed() -> None:
    assert files("compiler_gym").joinpath("py.typed").is_file()


def test_a_checker_knows_what_a_users_program_gets(tmp_path: Path) -> None:
    pytest.importorskip("pyright", reason="pyright is missing")
    (tmp_path / "user.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    config = {"typeCheckingMode": "strict", "include": ["user.py", "wrong.py"]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run([*command, "-p", str(tmp_path)], capture_output=True, check=False)
    (error,) = json.loads(done.stdout)["generalDiagnostics"]
    assert Path(error["file"]).name == "wrong.py", error
    assert error["range"]["start"]["line"] == WRONG.count("\n") - 1
