# SPDX-License-Identifier: MIT
"""Finds sequences of passes that do well on training programs, and few that cover all.

A search finds the best sequence for each program it is given; the programs come in
chunks, and each chunk begins with what did well on those before it. Sequences are then
tried on every program, and those are kept that together save most.
"""

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from training_programs import COST

import compiler_gym
from compiler_gym.caching import TranspositionCache
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.runs import RunFolder
from compiler_gym.search import Budget, level_sequences, run_search

ACTIONS = "PassesAndPipelines"
CHUNK = 12
STARTS = 12
"""How many of the sequences found so far a search begins with."""

Names = tuple[str, ...]


def make_env(cache: TranspositionCache | None = None) -> Any:
    """Return an environment that has the compiler's levels among its actions."""
    return compiler_gym.make(
        "llvm-v0", action_space=ACTIONS, reward_space="IrInstructionCountOz", cache=cache
    )


def mine(run: RunFolder, programs: Sequence[str], seconds: float, seed: int) -> list[Names]:
    """Return the sequences that searches of `seconds` together found, and the levels."""
    order = list(programs)
    random.Random(seed).shuffle(order)
    chunks = [order[i : i + CHUNK] for i in range(0, len(order), CHUNK)]
    with make_env() as env:
        names = list(env.action_space.names)
    levels = [tuple(names[a] for a in level) for level in level_sequences(names)]
    levels = [level for level in levels if level != ("-O0",)]
    found: list[Names] = []
    for number, chunk in enumerate(chunks):
        key = f"search {number}"
        if run.result_of(key) is None:
            starts = [*levels, *found[-STARTS:]]
            run.record(key, _search(chunk, names, starts, seconds / len(chunks), seed))
        known = run.result_of(key)
        assert known is not None
        best = [tuple(item["actions"]) for item in known["found"]]
        found += [names for names in best if len(names) > 1 and names not in found]
    return [*levels, *found]


def _search(
    programs: Sequence[str], names: list[str], starts: list[Names], seconds: float, seed: int
) -> dict[str, Any]:
    results = run_search(
        make_env,
        list(programs),
        budget=Budget(seconds=max(seconds, 1.0)),
        jobs=1,
        seed=seed,
        starts=[[names.index(name) for name in start] for start in starts],
    )
    results.sort(key=lambda result: result.reward)
    return {
        "found": [
            {
                "program": r.benchmark,
                "actions": r.action_names,
                "reward": r.reward,
                "steps": r.steps,
            }
            for r in results
        ]
    }


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
