# SPDX-License-Identifier: MIT
"""Finds sequences of passes that do well on training programs, and few that cover all.

A search from the compiler's own levels finds a good sequence for each program. These are
then tried on every program, and those are kept that together save most.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from training_programs import COST

import compiler_gym
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.runs import RunFolder
from compiler_gym.search import Budget, level_sequences, run_search
from compiler_gym.service.caching import TranspositionCache

ACTIONS = "PassesAndPipelines"
SECONDS = 20.0
"""After which the search of one program ends, whatever it has left."""

Names = tuple[str, ...]


def make_env(cache: TranspositionCache | None = None) -> Any:
    """Return an environment that has the compiler's levels among its actions."""
    return compiler_gym.make(
        "llvm-v0", action_space=ACTIONS, reward_space="IrInstructionCountOz", cache=cache
    )


def mine(run: RunFolder, programs: Sequence[str], steps: int, seed: int) -> list[Names]:
    """Return the levels, and what a search of `steps` new actions found for each program."""
    with make_env() as env:
        names = list(env.action_space.names)
    numbers = level_sequences(names)
    found = [tuple(names[action] for action in level) for level in numbers]
    found = [level for level in found if level != ("-O0",)]
    for program in programs:
        key = f"search {program}"
        if run.find_result(key) is None:
            run.record(key, _search(program, steps, seed, numbers))
        known = run.find_result(key)
        assert known is not None
        sequence = tuple(known["actions"])
        if len(sequence) > 1 and sequence not in found:
            found.append(sequence)
    return found


def _search(program: str, steps: int, seed: int, starts: list[list[int]]) -> dict[str, Any]:
    try:
        (result,) = run_search(
            make_env,
            [program],
            budget=Budget(steps=steps, seconds=SECONDS),
            jobs=1,
            seed=seed,
            starts=starts,
        )
    except BenchmarkInitError:
        return {"actions": []}
    return {"actions": result.action_names, "reward": result.reward, "steps": result.steps}


def cover(
    run: RunFolder, programs: Sequence[str], sequences: Sequence[Names], count: int
) -> list[Names]:
    """Return the `count` sequences that together save most, the best alone first.

    Each next one adds most to the mean of the logarithms of what the best so far saves.
    """
    savings = _savings(run, programs, sequences)
    best = np.full(len(savings), -np.inf)
    chosen: list[int] = []
    while len(chosen) < min(count, len(sequences)):
        gains = np.maximum(savings, best[:, None]).mean(0)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        best = np.maximum(best, savings[:, chosen[-1]])
    return [sequences[number] for number in chosen]


def finishers(run: RunFolder, programs: Sequence[str], count: int) -> list[Names]:
    """Return the level that saves most and, alone, the `count` passes that help most after it."""
    with make_env() as env:
        names = list(env.action_space.names)
    levels = [names[number] for (number,) in level_sequences(names)]
    best = cover(run, programs, [(level,) for level in levels], 1)[0]
    passes = [name for name in names if name not in levels]
    with RunFolder.open(run.path / "after", "training", {"level": best[0]}) as after:
        chosen = cover(after, programs, [best, *((*best, name) for name in passes)], count + 1)
    return [best, *((sequence[-1],) for sequence in chosen if sequence != best)][: count + 1]


def _savings(run: RunFolder, programs: Sequence[str], sequences: Sequence[Names]) -> Any:
    """Return ``log(-Oz / count)`` of every program after every sequence."""
    rows: list[list[float]] = []
    file = run.path / "savings.json"
    known: dict[str, list[float]] = json.loads(file.read_text()) if file.is_file() else {}
    with TranspositionCache() as cache, make_env(cache) as env:
        for program in programs:
            if program not in known:
                known[program] = _row(env, program, sequences)
                file.write_text(json.dumps(known))
            rows.append(known[program])
    return np.array([row for row in rows if row])


def _row(env: Any, program: str, sequences: Sequence[Names]) -> list[float]:
    row: list[float] = []
    for names in sequences:
        try:
            env.reset(benchmark=program)
        except BenchmarkInitError:
            return []
        baseline = max(int(env.observation[f"{COST}Oz"]), 1)
        actions = [env.action_space[name] for name in names]
        *_, truncated, _ = env.multistep(actions)
        after = int(env.observation["IrInstructionCountO0"] if truncated else env.observation[COST])
        row.append(float(np.log(baseline / max(after, 1))))
    return row
