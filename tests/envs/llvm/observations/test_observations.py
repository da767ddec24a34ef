# SPDX-License-Identifier: MIT
"""Observations, compared with LLVM's own tools."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from compiler_gym.envs.llvm import (
    LlvmEnv,
    compute_observation,
    observation_spaces,
    reward_spaces,
)
from compiler_gym.envs.llvm.observations import (
    AUTOPHASE_FEATURES,
    INST_COUNT_FEATURES,
    TABLE,
)
from compiler_gym.spaces import Scalar
from compiler_gym.tables import Observation
from compiler_gym.testing import wait_until

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
PROGRAMS = ("crc32", "sha", "qsort")


def count_instructions(ir: str) -> int:
    """Count the instructions of printed IR."""
    bodies = re.findall(r"^define [^\n]*\{\n(.*?)^\}", ir, re.DOTALL | re.MULTILINE)
    lines = [line for body in bodies for line in body.splitlines()]
    return sum(bool(re.match(r"  [^ \]]", line)) for line in lines)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_ir_is_what_the_disassembler_prints(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, program: str
) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    path = env.write_bitcode(tmp_path / "module.bc")
    printed = tool("llvm-dis-22", path, "-o", "-").decode()

    def without_name(text: str) -> str:
        return re.sub(r"^; ModuleID.*\n", "", text)

    assert without_name(env.ir) == without_name(printed)
    assert env.observation["IrInstructionCount"] == count_instructions(printed)
    assert env.observation["InstCount"][0] == count_instructions(printed)


def test_hashes_and_bitcode_agree(env: LlvmEnv) -> None:
    env.reset()
    bitcode = env.observation["Bitcode"]
    assert bitcode.dtype == np.int8
    assert env.ir_sha1 == hashlib.sha1(bitcode.tobytes()).hexdigest()
    path = Path(env.observation["BitcodeFile"])
    assert path.read_bytes() == bitcode.tobytes()
    env.close()
    # The worker removes its files when it sees that its client has gone.
    assert wait_until(lambda: not path.exists())


def test_features_have_their_documented_names(env: LlvmEnv) -> None:
    assert len(AUTOPHASE_FEATURES) == 56
    assert len(INST_COUNT_FEATURES) == 70
    env.reset()
    autophase = env.observation["Autophase"]
    assert autophase.dtype == np.int64
    assert list(env.observation["AutophaseDict"].values()) == autophase.tolist()
    counts = env.observation["InstCount"]
    assert counts[3:].sum() == counts[0]
    assert autophase[AUTOPHASE_FEATURES.index("TotalInsts")] == counts[0]
    assert autophase[AUTOPHASE_FEATURES.index("TotalBlocks")] == counts[1]


def test_densities_are_counts_over_their_total(env: LlvmEnv) -> None:
    env.reset()
    counts, densities = env.observation["InstCount"], env.observation["InstCountNorm"]
    assert densities.dtype == np.float32
    assert np.allclose(densities, counts[1:] / counts[0])
    named = env.observation["InstCountNormDict"]
    assert named["TotalBlocksDensity"] == pytest.approx(counts[1] / counts[0])


@pytest.mark.parametrize("name", ["Ir", "InstCount", "InstCountNorm", "IrInstructionCountOz"])
def test_a_module_without_code_has_defined_observations(
    make_env: MakeEnv, tmp_path: Path, name: str
) -> None:
    path = tmp_path / "empty.ll"
    path.write_text("declare i32 @puts(ptr)\n")
    env = make_env(benchmark=f"file://{path}", reward_space="IrInstructionCountOz")
    env.reset()
    assert env.observation[name] in env.observation.spaces[name].space
    _, reward, _, truncated, _ = env.step(0)
    assert (reward, truncated) == (0.0, False)


def test_an_observation_of_a_file_needs_no_environment(env: LlvmEnv, tmp_path: Path) -> None:
    env.reset()
    path = env.write_bitcode(tmp_path / "module.bc")
    found = compute_observation(cast(Any, observation_spaces).Autophase, path)
    assert np.array_equal(found, env.observation["Autophase"])


def test_a_member_of_the_enumerations_stands_for_its_name(env: LlvmEnv) -> None:
    seen, earned = cast(Any, observation_spaces), cast(Any, reward_spaces)
    observation, _ = env.reset(
        observation_space=[seen.Autophase, "IrSha1"], reward_space=earned.IrInstructionCount
    )
    assert list(observation) == ["Autophase", "IrSha1"]
    assert env.observation[seen.IrSha1] == env.ir_sha1
    values, reward, _, _, _ = env.step(
        env.action_space["sroa"], observation_spaces=[seen.IrInstructionCount]
    )
    assert (values, reward > 0) == ([env.observation["IrInstructionCount"]], True)


def test_a_spec_makes_the_spec_of_a_function_of_it(env: LlvmEnv) -> None:
    env.reset()
    space = Scalar("lines", 0, None, dtype=int)
    spec = env.observation.spaces["Ir"].make_derived_space(
        id="lines", translate=str.splitlines, to_string=None
    )
    length = spec.make_derived_space("length", len, space, default_value=7)
    assert (spec.id, length.id, length.base_id) == ("lines", "length", "Ir")
    assert length.translate("a\nb\n") == 2
    assert (length.space, length.default_value, length.to_string(2)) == (space, 7, "2")
    assert (length.deterministic, length.platform_dependent) == (True, False)


@pytest.mark.parametrize("spec", TABLE.observations, ids=lambda spec: spec.name)
def test_every_space_says_what_it_is(spec: Observation) -> None:
    assert spec.description.endswith((".", "declarations."))
