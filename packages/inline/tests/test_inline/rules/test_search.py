# SPDX-License-Identifier: MIT
"""A search continues after an interruption, takes any function, and finds savings."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from compiler_gym.registration import make
from compiler_gym_inline.rules import Trial, search_rules
from compiler_gym_inline.rules.llvm.evolution import Evolution


def test_a_search_continues_where_it_ended_and_any_function_can_propose(tmp_path: Path) -> None:
    """The scripted proposer raises a threshold, whatever it has seen before."""

    def propose(history: Sequence[Trial]) -> str:
        return f"frame = calls > {len(history)}"

    log = tmp_path / "trials.jsonl"
    with make(
        "llvm-rule-v0", benchmark="rule-programs-v0/crc32", reward_space="LoadedBytes"
    ) as env:
        first = search_rules(env, propose, trials=2, log=log)
        seen: list[Trial] = []
        every = search_rules(env, propose, trials=3, log=log, watch=seen.append)
    assert every[:2] == first
    assert seen == every[2:]
    assert [trial.rule for trial in every] == [f"frame = calls > {n}" for n in range(3)]


@pytest.mark.slow
def test_evolution_improves_within_a_hundred_trials() -> None:
    with make("llvm-rule-v0", reward_space="LoadedBytes") as env:
        history = search_rules(env, Evolution(("inline", "frame")), trials=60)
    assert max(trial.saved for trial in history) > 0
