# SPDX-License-Identifier: MIT
"""The session passes the public suite; its features are those that opt sends to a model."""

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from compiler_gym import _llvm
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import InvalidParameterError, ModuleTooLargeError
from compiler_gym.service import Limits
from compiler_gym.testing import SessionConformance
from compiler_gym_inline.llvm.actions import LETTERS
from compiler_gym_inline.llvm.environment import LlvmInlineEnv
from compiler_gym_inline.llvm.observations import INLINE_FEATURES

from .interactive import Asked, ask_opt

PROGRAMS = Path(__file__).parents[5] / "programs"


class _Env(CompilerEnv):
    command_line_styles: ClassVar = LlvmInlineEnv.command_line_styles


def bitcode_of(name: str) -> bytes:
    return (PROGRAMS / name / f"{name}.bc").read_bytes()


class TestLlvmInlineSession(SessionConformance):
    source = LlvmInlineEnv.source
    environment = _Env
    programs = (Benchmark("benchmark://conformance-v0/bitcount", bitcode_of("bitcount")),)
    bad_programs = (b"", b"no module", bitcode_of("crc32")[:200])
    observations = ("IrHash", "InlineFeatures", "CallSite", "InlineDecisions", "ObjectTextSizeOz")
    parameters: ClassVar = {"llvm.verify": ""}
    steps = 5


def random_decision(number: int, question: Asked) -> bool:
    return random.Random(number).random() < 0.5


def default_decision(number: int, question: Asked) -> bool:
    return bool(question["inlining_default"])


def always(number: int, question: Asked) -> bool:
    return True


@pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")
@pytest.mark.parametrize("decide", [random_decision, default_decision, always])
@pytest.mark.parametrize(
    "name",
    [
        "bitcount",
        "sha",
        "qsort",
        "patricia",
        pytest.param("bzip2", marks=pytest.mark.slow),
        pytest.param("gsm", marks=pytest.mark.slow),
        pytest.param("jpeg-c", marks=pytest.mark.slow),
        pytest.param("lame", marks=pytest.mark.slow),
        pytest.param("ghostscript", marks=pytest.mark.slow),
    ],
)
def test_the_features_are_those_that_opt_sends_to_a_model(
    name: str, decide: Callable[[int, Asked], bool], tmp_path: Path
) -> None:
    module = _llvm.Module(bitcode_of(name))
    module.set_goal("size")
    asked = ask_opt(module.bitcode(), tmp_path, decide)
    inlining = _llvm.Inlining(module, "Oz")
    answers = ("no-inline", "inline")
    number = 0
    while not inlining.is_over:
        numbers = memoryview(inlining.features()).cast("q").tolist()
        ours: Asked = dict(zip(INLINE_FEATURES, numbers, strict=True))
        assert number < len(asked), "opt asked no more"
        assert ours == asked[number], (number, inlining.call_site())
        inlining.answer(answers[decide(number, ours)])
        number += 1
    assert number == len(asked) > 0


@pytest.mark.parametrize("goal", ["size", "speed"])
@pytest.mark.parametrize("name", ["crc32", "bitcount", "qsort", "patricia", "sha"])
def test_llvms_own_choices_make_what_the_level_makes(name: str, goal: str) -> None:
    level = {"size": "Oz", "speed": "O3"}[goal]
    wanted = _llvm.Module(bitcode_of(name))
    wanted.apply_level(level)
    with LlvmInlineEnv(benchmark=f"cbench-v1/{name}?goal={goal}") as env:
        env.reset()
        assert env.level == level
        while env.in_episode:
            env.step(env.action_space["default"])
        assert env.observation["Bitcode"].tobytes() == wanted.bitcode()
        for cost in ("IrInstructionCount", "ObjectTextSize"):
            now = "ObjectTextSizeBytes" if cost == "ObjectTextSize" else cost
            assert env.observation[now] == env.observation[f"{cost}{level}"]


@pytest.mark.slow
@pytest.mark.parametrize("level", ["O1", "O2", "O3", "Os", "Oz"])
@pytest.mark.parametrize("path", sorted(PROGRAMS.glob("*/*.bc")), ids=lambda path: path.stem)
def test_llvms_own_choices_give_the_levels_result_with_and_without_features(
    path: Path, level: str
) -> None:
    wanted = _llvm.Module(path.read_bytes())
    wanted.apply_level(level)
    module = _llvm.Module(path.read_bytes())
    inlining = _llvm.Inlining(module, level)
    while not inlining.is_over:
        inlining.features()
        inlining.call_site()
        inlining.answer("default")
    assert module.bitcode() == wanted.bitcode()


def test_passes_are_not_run_in_the_middle_of_a_pipeline() -> None:
    with LlvmInlineEnv(benchmark="cbench-v1/bitcount") as env:
        env.reset()
        for key in ("llvm.apply_pipeline", "llvm.apply_baseline_optimizations"):
            with pytest.raises(InvalidParameterError, match=key):
                env.send_param(key, "-Oz")
        assert env.send_param("llvm.verify", "") == "valid"


def test_a_program_that_outgrows_its_limit_ends_the_episode() -> None:
    limits = Limits(growth=0.1, growth_floor=1)
    with LlvmInlineEnv(benchmark="cbench-v1/bitcount", limits=limits) as env:
        env.reset()
        *_, truncated, info = env.step(env.action_space["inline"])
        assert truncated
        assert isinstance(info["error"], ModuleTooLargeError)
        assert "inlining grew the module from" in info["error_details"]
        env.reset()
        assert env.in_episode


def test_many_unfinished_episodes_leave_nothing_behind() -> None:
    with LlvmInlineEnv(benchmark="cbench-v1/patricia", isolation="in-process") as env:
        sizes: list[int] = []
        for number in range(60):
            env.reset()
            for letter in "di"[: number % 3]:
                env.step(LETTERS.index(letter))
            sizes.append(_resident())
        assert sizes[-1] - sizes[29] < 40_000_000, sizes


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
