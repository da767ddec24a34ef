# SPDX-License-Identifier: MIT
"""Ray Tune chooses an agent's parameters: a trial is one short run of its file."""

import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[4] / "agents" / "actor_critic.py"
PROGRAM = "cbench-v1/crc32"


def trainable(config: dict[str, Any]) -> None:
    """Learn with the parameters of a trial, in a process of its own, and report."""
    import importlib.util

    tune: Any = importlib.import_module("ray.tune")  # we run in it
    spec = importlib.util.spec_from_file_location("agents_actor_critic", config["file"])
    assert spec is not None
    assert spec.loader is not None
    agent: Any = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = agent
    spec.loader.exec_module(agent)
    chosen = {name: value for name, value in config.items() if name != "file"}
    options = agent.Options(train=(PROGRAM,), episode=4, envs=2, **chosen)
    _, finished = agent.train(options)
    tune.report({"episode_reward": sum(finished[-20:]) / 20, "episodes": len(finished)})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ray_tune_compares_learning_rates_of_an_agent(tmp_path: Path) -> None:
    ray: Any = pytest.importorskip("ray", reason="ray is missing")
    pytest.importorskip("torch", reason="torch is missing")
    tune: Any = pytest.importorskip("ray.tune", reason="ray is missing")

    # Trials run where this file cannot be imported by its name.
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
        few = ("sroa", "simplifycfg", "instcombine", "dce", "adce", "lcssa")
        rates = [1e-9, 3e-3]
        tuner = tune.Tuner(
            trainable,
            param_space={
                "file": str(FILE),
                "actions": few,
                "steps": 480,
                "learning_rate": tune.grid_search(rates),
            },
            tune_config=tune.TuneConfig(metric="episode_reward", mode="max"),
            run_config=tune.RunConfig(storage_path=str(tmp_path), verbose=0),
        )
        results = tuner.fit()
        assert not results.errors
        assert sorted(result.config["learning_rate"] for result in results) == rates
        assert [result.metrics["episodes"] for result in results] == [120, 120]
        best = results.get_best_result()
        assert best.metrics["episode_reward"] > 0
        assert best.config["learning_rate"] == 3e-3
    finally:
        ray.shutdown()
