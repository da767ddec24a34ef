# SPDX-License-Identifier: MIT
"""Every space on every kind of module: a value of the space, or a typed error.

By default the edge modules and a few programs are tried, without what takes long; the
rest is slow: every space on every bundled program.
"""

from collections.abc import Callable

import pytest

from compiler_gym.datasets import Benchmark, BundledPrograms
from compiler_gym.envs.llvm import LlvmEnv, observation_spaces
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.observations.derived.inst2vec import VARIABLE
from compiler_gym.errors import ObservationError
from tests.envs.llvm.edge_modules import EDGE_MODULES, edge_module

MakeEnv = Callable[..., LlvmEnv]
SPACES = [space.name for space in observation_spaces]
BASELINES = {name for cost in TABLE.costs for name in (*cost.baselines, cost.initial)}
RUNS = {"Runtime", "RuntimeComparison", "RuntimeInstructions", "IsRunnable", "Buildtime"}
QUICK = [name for name in SPACES if name not in BASELINES | RUNS]
PROGRAMS = [str(uri).rsplit("/", 1)[-1] for uri in BundledPrograms().benchmark_uris()]
NEEDS_A_VOCABULARY = {"Inst2vec", "Inst2vecEmbeddingIndices", "Inst2vecUnknownShare"}
NEEDS_MAIN = {
    "TextSizeBytes",
    "LinkedTextSizeBytes",
    "LinkedSizeBytes",
    "Buildtime",
    "Runtime",
    "RuntimeComparison",
    "RuntimeInstructions",
}
IN_PYTHON = {"LexedIr", "LexedIrTuple", "Programl", "ProgramlJson", "Inst2vecPreprocessedText"}
NEEDS_X86 = {"Assembly", "ObjectTextSizeBytes", "ObjectInstructionCount", "McaCycles"}


def look(env: LlvmEnv, name: str) -> str:
    """Observe `name` and return "value", or why there is none."""
    spec = env.observation.spaces[name]
    assert spec.default_value in spec.space, f"the default of {name}"
    try:
        value = env.observation[name]
    except ObservationError:
        return "error"
    assert value in spec.space, f"{name} is {str(value)[:200]}"
    return "value"


def check(env: LlvmEnv, names: list[str], refused: set[str]) -> None:
    """Look at `names` and compare those without a value with `refused`."""
    found = {name: look(env, name) for name in names}
    assert {name for name, outcome in found.items() if outcome == "error"} == refused & set(names)


@pytest.fixture(autouse=True)
def no_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def started_on(make_env: MakeEnv, name: str) -> LlvmEnv:
    env = make_env()
    env.reset(benchmark=Benchmark(f"benchmark://edge-v0/{len(name)}", edge_module(name)))
    return env


@pytest.mark.parametrize("name", sorted({*EDGE_MODULES} - {"large function"}))
def test_an_edge_module_has_values_or_typed_errors(make_env: MakeEnv, name: str) -> None:
    env = started_on(make_env, name)
    unsupported = name in ("foreign triple", "scalable vectors")
    refused = NEEDS_A_VOCABULARY | NEEDS_MAIN | (NEEDS_X86 if unsupported else set[str]())
    check(env, QUICK, refused)


def test_a_large_function_has_a_value_of_every_space_that_is_made_of_columns(
    make_env: MakeEnv,
) -> None:
    env = started_on(make_env, "large function")
    check(env, [n for n in QUICK if n not in IN_PYTHON], NEEDS_A_VOCABULARY | NEEDS_MAIN)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(IN_PYTHON))
def test_a_large_function_has_a_value_of_every_space_that_python_makes(
    make_env: MakeEnv, name: str
) -> None:
    check(started_on(make_env, "large function"), [name], set())


SCALABLE = {
    "argument": ("<vscale x 2 x i64> %0", ""),
    "variable": ("", "%1 = alloca <vscale x 2 x i64>"),
    "address": ("ptr %0", "%2 = getelementptr <vscale x 2 x i64>, ptr %0, i64 1"),
    "constant": ("ptr %0", "store <vscale x 2 x i64> zeroinitializer, ptr %0"),
    "length": ("", "%1 = call i64 @llvm.vscale.i64()"),
}


@pytest.mark.parametrize("place", SCALABLE)
def test_a_scalable_vector_is_refused_before_llvm_dies_of_it(make_env: MakeEnv, place: str) -> None:
    arguments, body = SCALABLE[place]
    text = (
        'target triple = "x86_64-pc-linux-gnu"\n'
        f"define void @f({arguments}) {{\n  {body}\n  ret void\n}}\n"
    )
    env = make_env()
    env.reset(benchmark=Benchmark(f"benchmark://edge-v0/{place}", text.encode()))
    for name in sorted(NEEDS_X86):
        with pytest.raises(ObservationError, match="x86 has no scalable vectors, which 'f' uses"):
            _ = env.observation[name]
    assert env.observation["IsBuildable"] is False
    assert env.in_episode


@pytest.mark.parametrize("name", sorted({*EDGE_MODULES} - {"large function"}))
def test_an_edge_module_survives_actions(make_env: MakeEnv, name: str) -> None:
    env = started_on(make_env, name)
    assert look(env, "PassStatistics") == "value"
    for action in ("sroa", "instcombine", "simplifycfg", "globaldce"):
        _, _, _, truncated, info = env.step(env.action_space[action])
        assert not truncated, info
        for space in ("PassStatistics", "ProgramlArrays", "LexedIrArrays", "FunctionFeatures"):
            assert look(env, space) == "value"


def test_a_program_has_a_value_of_every_quick_space(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    check(env, QUICK, NEEDS_A_VOCABULARY)


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_has_a_value_of_every_space(make_env: MakeEnv, program: str) -> None:
    env = make_env(benchmark=f"cbench-v1/{program}")
    env.reset()
    check(env, SPACES, NEEDS_A_VOCABULARY)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*EDGE_MODULES} - {"large function"}))
def test_an_edge_module_has_baselines_or_typed_errors(make_env: MakeEnv, name: str) -> None:
    env = started_on(make_env, name)
    for space in sorted(BASELINES & set(SPACES)):
        assert look(env, space) in ("value", "error")


def test_several_spaces_are_observed_together(make_env: MakeEnv) -> None:
    names = ["Autophase", "InstCountNorm", "IR2Vec", "ProgramlArrays", "McaCycles"]
    env = make_env(benchmark="cbench-v1/crc32", observation_space=names)
    observation, _ = env.reset()
    assert list(observation) == names
    assert observation in env.observation_space
    observation, _, _, _, _ = env.step(env.action_space["sroa"])
    assert observation in env.observation_space
