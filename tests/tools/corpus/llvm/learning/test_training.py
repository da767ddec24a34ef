# SPDX-License-Identifier: MIT
"""A policy is learnt from what programs weigh: by what a wrong choice costs, always the same."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.corpus.llvm.learning import (
    FAIR,
    Loss,
    Outcomes,
    PlanOutcome,
    plan_key,
    train,
    training,
)
from compiler_gym.tools.corpus.llvm.learning.plans import with_options
from compiler_gym.tools.tune import recipe_named
from compiler_gym.tools.tune.llvm.policies import FEATURES
from tests.stand_ins import always

SMALL = recipe_named("small").plan
BASIC = with_options(SMALL, {"regalloc": "basic"})
SIZE = 10_000


@dataclass(frozen=True)
class Program:
    """Stands for a linked program; its one feature that differs is its number."""

    name: str
    package: str
    split: str
    is_shared: bool = False

    def modules(self) -> Iterator[bytes]:
        yield self.name.encode()


Corpus = Callable[[Callable[[int], int]], Path]


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    programs = [
        Program(str(number), f"package {number // 2}", "validation" if number > 59 else "train")
        for number in range(64)
    ]

    def features(modules: Iterator[bytes], *, is_shared: bool) -> list[float]:
        return [float(next(modules)), *[float(is_shared)] * (len(FEATURES) - 1)]

    monkeypatch.setattr(training, "open_corpus", always(None))
    monkeypatch.setattr(training, "list_programs", always(programs))
    monkeypatch.setattr(training, "compute_features", features)

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


def learnt(path: Path, loss: Loss = Loss.REGRET) -> training.Training:
    return train(path, "corpus", recipe="small", count=2, seed=0, loss=loss)


def test_what_depends_on_the_program_is_learnt(corpus: Corpus) -> None:
    made = learnt(corpus(lambda number: -500 if number % 60 > 30 else 500))
    assert [plan.name for plan in made.policy.plans] == ["recipe", "regalloc=basic"]
    seen = made.against_plain
    assert seen["chosen"].mean == pytest.approx(seen["the best of them"].mean, abs=0.5)
    assert seen["chosen"].mean < seen["always recipe"].mean < -1.5
    few, many = ([number] + [0.0] * (len(FEATURES) - 1) for number in (5.0, 55.0))
    assert made.policy.rank_plans(few)[0].name == "recipe"
    assert made.policy.rank_plans(many)[0].name == "regalloc=basic"


def test_one_plan_for_all_is_the_choice_where_no_feature_helps(corpus: Corpus) -> None:
    made = learnt(corpus(lambda number: -300 if number % 3 else 100))
    assert made.policy.is_constant
    assert made.policy.rank_plans([0.0] * len(FEATURES))[0].name == "regalloc=basic"
    assert made.against_plain["chosen, never larger"].larger == 0.0


def test_a_rare_large_loss_counts_for_more_than_frequent_small_gains(corpus: Corpus) -> None:
    path = corpus(lambda number: 3000 if number % 5 == 0 else -10)
    by_regret, by_accuracy = (
        learnt(path, loss).policy.rank_plans([30.0] + [0.0] * (len(FEATURES) - 1))[0].name
        for loss in (Loss.REGRET, Loss.ACCURACY)
    )
    assert by_regret == "recipe"
    assert by_accuracy in {"recipe", "regalloc=basic"}


def test_equal_outcomes_and_an_equal_seed_make_an_equal_policy(corpus: Corpus) -> None:
    path = corpus(lambda number: 7 * number - 200)
    assert learnt(path).policy == learnt(path).policy


def test_too_few_packages_are_refused(tmp_path: Path, corpus: Corpus) -> None:
    corpus(lambda number: 0)
    with pytest.raises(InvalidParameterError, match="only 0 training programs"):
        learnt(tmp_path / "none.jsonl")
