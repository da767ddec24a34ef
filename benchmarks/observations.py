# SPDX-License-Identifier: MIT
"""What each observation costs, in the engine and through an environment.

Programs of about 1,000 and 10,000 instructions. The engine's figures are medians of
processor time. The environment's are the shortest wall-clock time of several looks, which
is what a look costs when nobody else wants the machine. Each is the first after a reset, so
that nothing is answered from memory; one figure shows what an answer from memory costs.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import compiler_gym
from benchmarks.measure import Figure, median_seconds
from compiler_gym import _llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path

__all__ = ["measure"]

PROGRAMS = Path(__file__).parents[1] / "programs"
SIZES = (("bitcount", 1_000), ("jpeg-c", 10_000))
ENGINE_REPEATS, ENV_REPEATS = 25, 25

# Promises in microseconds at 1,000 instructions; ten times that at 10,000.
PROMISED = {
    "Autophase": 20,
    "InstCount": 20,
    "ProgramlArrays": 1_000,
    "ProgramlJson": 10_000,
    "IR2Vec": 300,
    "LexedIrArrays": 1_000,
    "LexedIr": 1_000,
}
THROUGH_AN_ENVIRONMENT = ("ProgramlArrays", "ProgramlJson", "IR2Vec", "LexedIr")
OBSERVED = (
    *("Autophase", "InstCount", "ProgramlArrays", "ProgramlJson", "Programl", "ProgramlGraph"),
    *("IR2Vec", "IR2VecFlowAware", "LexedIrArrays", "LexedIrWords", "LexedIr"),
    "LexedIrTuple",
    *("FunctionFeatures", "CallGraph", "LoopForest", "Inst2vecPreprocessedText", "Ir", "Bitcode"),
    *("IrHash", "PassStatistics", "ObjectTextSizeBytes", "ObjectInstructionCount", "McaCycles"),
    "TextSizeBytes",
)


def measure() -> list[Figure]:
    """Return the figures of the engine, then of the environment, for each size."""
    # The engine first, and on the large program: what others leave behind scatters it in memory.
    engine = {program: list(_in_the_engine(program, size)) for program, size in reversed(SIZES)}
    figures: list[Figure] = []
    for program, size in SIZES:
        figures += engine[program]
        figures += _through_an_environment(program, size)
    return figures


def _in_the_engine(program: str, size: int) -> Iterator[Figure]:
    module = _llvm.Module((PROGRAMS / program / f"{program}.bc").read_bytes())
    vocabulary = _llvm.Ir2VecVocabulary(str(vocabulary_path()))
    calls: dict[str, Callable[[], Any]] = {
        "Autophase": module.autophase,
        "InstCount": module.inst_count,
        "ProgramlArrays": lambda: _llvm.program_graph(module),
        "ProgramlJson": lambda: _llvm.program_graph_json(module),
        "IR2Vec": lambda: vocabulary.symbolic(module),
        "LexedIrArrays": lambda: _llvm.lexed_ir(module),
    }
    for name, call in calls.items():
        micros = _median_processor_seconds(call) * 1e6
        bound = PROMISED[name] * size / 1_000
        yield Figure(f"{size:,} instructions, engine: {name}", micros, "us", bound=bound)
    yield _size_against_code(module, size)


def _size_against_code(module: _llvm.Module, size: int) -> Figure:
    code = _median_processor_seconds(module.object_code)
    text = _median_processor_seconds(module.object_text_size)
    name = f"{size:,} instructions, engine: ObjectTextSizeBytes against code generation"
    return Figure(name, text / code, "x", bound=1.2)


def _median_processor_seconds(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(ENGINE_REPEATS):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return median(times)


def _through_an_environment(program: str, size: int) -> Iterator[Figure]:
    with compiler_gym.make("llvm-v0", benchmark=f"cbench-v1/{program}") as env:
        assert isinstance(env, LlvmEnv)
        for name in OBSERVED:
            fresh, kept = _look(env, name)
            label = f"{size:,} instructions, environment: {name}"
            bound = PROMISED[name] * size / 1_000 if name in THROUGH_AN_ENVIRONMENT else None
            yield Figure(label, fresh * 1e6, "us", bound=bound)
            if name == "ProgramlArrays":
                yield Figure(f"{label}, again", kept * 1e6, "us")


def _look(env: LlvmEnv, name: str) -> tuple[float, float]:
    """Return the shortest times of a first look at a program and of a second one."""
    first, second = [], []
    for _ in range(ENV_REPEATS):
        env.reset()
        _ = env.observation["IrInstructionCount"]
        first.append(median_seconds(lambda: env.observation[name], repeats=1))
        second.append(median_seconds(lambda: env.observation[name], repeats=1))
    return min(first), min(second)
