# SPDX-License-Identifier: MIT
"""Libraries that search find better sequences than their first ones."""

from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.integrations.objective import SequenceObjective
from compiler_gym.wrappers import CycleOverBenchmarks

FEW = ("add", "double", "negate", None)


@pytest.fixture
def env() -> Any:
    with FakeEnv(reward_space="number", action_space="Behaviours") as made:
        made.reset(benchmark="benchmark://fake-v0/7")
        yield made


def test_the_cost_is_what_the_reward_lost(env: Any) -> None:
    cost = SequenceObjective(env, length=3, actions=FEW)
    assert cost([1, 1, 2]) == -35
    assert cost([3, 3, 3]) == 0
    assert cost([0, 3, 0]) == 2
    assert cost.best is not None
    assert cost.best.cost == -35
    assert cost.commandline() == "double double negate"


def test_a_failure_is_the_worst_cost(env: Any) -> None:
    cost = SequenceObjective(env, length=2, actions=("add", "segfault"))
    evaluation = cost.evaluate([0, 1])
    assert evaluation.cost == float("inf")
    assert "SIGSEGV" in str(evaluation.error)
    assert cost.best is None
    assert cost([0, 0]) == 2


def test_the_program_stays_for_every_evaluation(env: Any) -> None:
    cycling = CycleOverBenchmarks(env, ["fake-v0/1", "fake-v0/2"])
    cost = SequenceObjective(cycling, length=1, actions=("double",))
    assert [cost([0]) for _ in range(3)] == [1, 1, 1]


def test_senseless_options_are_refused(env: Any) -> None:
    with pytest.raises(InvalidParameterError, match="length must be at least 1"):
        SequenceObjective(env, length=0)
    with pytest.raises(InvalidParameterError, match="there is no sequence yet"):
        SequenceObjective(env, length=1).commandline()
    with (
        FakeEnv(action_space="Menu") as menu,
        pytest.raises(InvalidParameterError, match="have no names"),
    ):
        SequenceObjective(menu, length=1)


def test_optuna_finds_better_sequences_and_prunes_the_rest(env: Any) -> None:
    optuna = pytest.importorskip("optuna", reason="optuna is missing")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cost = SequenceObjective(env, length=3, actions=FEW)
    study = optuna.create_study(
        sampler=optuna.samplers.TPESampler(seed=1), pruner=optuna.pruners.MedianPruner()
    )
    study.optimize(cost.optuna, n_trials=40)
    assert study.best_value <= -21
    states = {trial.state for trial in study.trials}
    assert optuna.trial.TrialState.PRUNED in states
    assert study.best_trial.user_attrs["actions"]


@pytest.mark.slow  # the guide's page asks it too
def test_nevergrad_uses_ask_and_tell(env: Any) -> None:
    nevergrad = pytest.importorskip("nevergrad", reason="nevergrad is missing")
    cost = SequenceObjective(env, length=3, actions=FEW)
    optimiser = nevergrad.optimizers.DiscreteOnePlusOne(
        parametrization=cost.nevergrad_parametrization(), budget=40
    )
    optimiser.parametrization.random_state.seed(1)
    for _ in range(40):
        candidate = optimiser.ask()
        optimiser.tell(candidate, cost(*candidate.args))
    assert cost.best is not None
    assert cost.best.cost <= -14
