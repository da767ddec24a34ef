# SPDX-License-Identifier: MIT
"""Nothing is computed twice for one state of a program, and the names of 0.2.5 are all there."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from compiler_gym.envs.llvm import LlvmEnv, observation_spaces, reward_spaces
from compiler_gym.envs.llvm.observations.compute import COMPUTE
from compiler_gym.envs.llvm.toolchain.build import Builder
from compiler_gym.testing import worker_pid

MakeEnv = Callable[..., LlvmEnv]
COMPUTED = (
    *("ProgramlArrays", "ProgramlJson", "LexedIrArrays", "IR2Vec", "Inst2vecPreprocessedText"),
    *("ObjectTextSizeBytes", "McaCycles", "FunctionFeatures"),
)


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often a session in this process has computed each observation."""
    counts: Counter[str] = Counter()

    def counting(name: str, compute: Callable[[Any], object]) -> Callable[[object], object]:
        def counted(session: Any) -> object:
            counts[name] += 1
            return compute(session)

        return counted

    table = COMPUTE
    for name in COMPUTED:
        monkeypatch.setitem(table, name, counting(name, table[name]))
    return counts


def test_an_unchanged_program_is_not_looked_at_twice(
    make_env: MakeEnv, computed: Counter[str]
) -> None:
    env = make_env(benchmark="cbench-v1/crc32", isolation="in-process")
    env.reset()
    for _ in range(2):
        for name in (*COMPUTED, "Programl", "ProgramlGraph", "LexedIr", "LexedIrTuple"):
            _ = env.observation[name]
    assert computed == dict.fromkeys(COMPUTED, 1)
    env.step(env.action_space["sroa"])
    _ = env.observation["IR2Vec"]
    assert computed["IR2Vec"] == 2
    _, _, _, _, info = env.step(env.action_space["sroa"])
    assert info["action_had_no_effect"]
    _ = env.observation["IR2Vec"]
    assert computed["IR2Vec"] == 2


def test_one_program_is_linked_once_for_all_its_measurements(
    make_env: MakeEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[Builder] = []
    build = Builder.build_again

    def counted(self: Builder, module: Any) -> Any:
        built.append(self)
        return build(self, module)

    monkeypatch.setattr(Builder, "build_again", counted)
    env = make_env(benchmark="cbench-v1/crc32", isolation="in-process")
    env.reset()
    for name in ("IsBuildable", "TextSizeBytes", "IsRunnable"):
        _ = env.observation[name]
    assert len(built) == 1
    env.step(env.action_space["sroa"])
    _ = env.observation["TextSizeBytes"]
    assert len(built) == 2


def test_the_spaces_of_compiler_gym_0_2_5_are_all_there() -> None:
    observations = """Ir IrSha1 Bitcode BitcodeFile InstCount Autophase Programl ProgramlJson
    CpuInfo
    IrInstructionCount IrInstructionCountO0 IrInstructionCountO3 IrInstructionCountOz
    ObjectTextSizeBytes ObjectTextSizeO0 ObjectTextSizeO3 ObjectTextSizeOz TextSizeBytes TextSizeO0
    TextSizeO3 TextSizeOz IsBuildable IsRunnable Runtime Buildtime LexedIr Inst2vecPreprocessedText
    Inst2vecEmbeddingIndices Inst2vec InstCountDict InstCountNorm InstCountNormDict AutophaseDict
    LexedIrTuple""".split()
    rewards = [
        f"{cost}{variant}"
        for cost, plain in (
            ("IrInstructionCount", ""),
            ("ObjectTextSize", "Bytes"),
            ("TextSize", "Bytes"),
        )
        for variant in (plain, "Norm", "O3", "Oz")
    ]
    assert set(observations) <= {space.name for space in observation_spaces}
    assert set(rewards) <= {space.name for space in cast(Any, reward_spaces)}


def test_a_worker_keeps_no_program_of_an_episode_that_is_over(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/sha")

    def megabytes_after(episodes: int) -> float:
        for _ in range(episodes):
            env.reset()
            env.multistep([env.action_space["sroa"], env.action_space["gvn"]])
        status = Path(f"/proc/{worker_pid(env)}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line) / 1024

    before = megabytes_after(5)
    assert megabytes_after(60) - before < 10
