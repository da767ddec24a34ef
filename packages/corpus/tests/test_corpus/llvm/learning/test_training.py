# SPDX-License-Identifier: MIT
"""A policy is the plan that saves most over all training programs, and always the same."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import policy_named, recipe_named
from compiler_gym_corpus.llvm.learning import (
    FAIR,
    Outcomes,
    PlanOutcome,
    plan_key,
    train,
    training,
)
from compiler_gym_corpus.llvm.learning.plans import with_options
from tests.stand_ins import always

SMALL = recipe_named("small").plan
BASIC = with_options(SMALL, {"regalloc": "basic"})
SIZE = 10_000


@dataclass(frozen=True)
class Program:
    """Stands for a linked program."""

    name: str
    package: str
    split: str


Corpus = Callable[[Callable[[int], int]], Path]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    programs = [
        Program(str(number), f"package {number // 2}", "validation" if number > 59 else "train")
        for number in range(64)
    ]
    monkeypatch.setattr(training, "open_corpus", always(None))
    monkeypatch.setattr(training, "list_programs", always(programs))

    def measured(by_basic: Callable[[int], int]) -> Path:
        path = tmp_path / "outcomes.jsonl"
        path.unlink(missing_ok=True)
        kept = Outcomes(path)
        for program in programs:
            for plan, loaded in (
                (FAIR, SIZE + 200), (SMALL, SIZE), (BASIC, SIZE + by_basic(int(program.name))),
            ):  # fmt: skip
                row = (program.name, program.package, program.split, 100, plan_key(plan))
                kept.add(PlanOutcome(*row, code=1, loaded=loaded, file=1, seconds=1.0))
        return path

    return measured


def learnt(path: Path) -> training.Training:
    return train(path, "corpus", path.with_name("mine.toml"), recipe="small", seed=0)


def test_the_plan_that_saves_most_is_chosen_and_can_be_used(corpus: Corpus) -> None:
    made = learnt(corpus(lambda number: -300 if number % 3 else 100))
    assert made.policy.plan.options == BASIC.options
    seen = made.against_plain
    assert seen["chosen (train)"].mean < seen["recipe (train)"].mean < -1.5
    assert seen["chosen, kept if smaller (train)"].larger == 0.0
    assert "chosen (validation)" in seen
    made.policy.write()
    assert policy_named(str(made.policy.path)).plan.options == BASIC.options


def test_a_rare_large_loss_counts_for_more_than_frequent_small_gains(corpus: Corpus) -> None:
    made = learnt(corpus(lambda number: 3000 if number % 5 == 0 else -10))
    assert made.policy.plan.options == SMALL.options


def test_equal_outcomes_and_an_equal_seed_make_an_equal_policy(corpus: Corpus) -> None:
    path = corpus(lambda number: 7 * number - 200)
    assert learnt(path).policy == learnt(path).policy


def test_too_few_packages_are_refused(tmp_path: Path, corpus: Corpus) -> None:
    corpus(lambda number: 0)
    with pytest.raises(InvalidParameterError, match="only 0 training programs"):
        learnt(tmp_path / "none.jsonl")
