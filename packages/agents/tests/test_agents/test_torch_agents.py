# SPDX-License-Identifier: MIT
"""The agents in PyTorch learn something on a small budget."""

from pathlib import Path
from typing import Any

import pytest

from tests.stand_ins import stand_in

from .conftest import load_agent

pytestmark = pytest.mark.slow
FEW = ("sroa", "simplifycfg", "instcombine", "early-cse", "dce", "gvn", "mem2reg", "inline")
PROGRAM = "cbench-v1/crc32"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_training_that_was_killed_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is missing")
    ppo: Any = load_agent("ppo")
    options = ppo.Options(
        train=(PROGRAM,),
        actions=FEW,
        steps=256,
        episode=4,
        horizon=16,
        savings="IrInstructionCount",
    )
    file = tmp_path / "ppo.pt"

    def killed(update: Any) -> None:
        if update.steps == 128:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ppo.train(options, killed, checkpoint=file)
    before = torch.load(file, weights_only=True)["policy"]
    seen: list[int] = []
    note = stand_in(lambda update: seen.append(update.steps))
    policy, history = ppo.train(options, note, checkpoint=file)
    assert seen == [192, 256]
    assert [update.steps for update in history] == [64, 128, 192, 256]
    after = policy.state_dict()
    assert float(after["count"]) == 256
    assert any(not torch.equal(before[name], after[name]) for name in before)
    again, _ = ppo.train(options, checkpoint=file)
    assert all(torch.equal(value, after[name]) for name, value in again.state_dict().items())


@pytest.mark.parametrize("masks", [0, 1])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ppo_learns_a_program(masks: int) -> None:
    pytest.importorskip("torch", reason="torch is missing")
    ppo: Any = load_agent("ppo")
    options = ppo.Options(
        train=(PROGRAM,), actions=FEW, steps=1536, episode=6, horizon=48, masks=masks, seed=1
    )
    policy, history = ppo.train(options)
    earned = ppo.evaluate(policy, options, [PROGRAM])[PROGRAM]
    assert history[-1].episode_reward > history[0].episode_reward
    assert earned > 0.75
    assert ppo.parse(["--train", "a", "b", "--steps", "7"]).train == ("a", "b")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_ppo_lives_through_workers_that_crash() -> None:
    pytest.importorskip("torch", reason="torch is missing")
    ppo: Any = load_agent("ppo")
    options = ppo.Options(train=(PROGRAM,), steps=256, horizon=32, envs=2)
    _, history = ppo.train(options, _killer())
    assert len(history) == 4


def _killer() -> Any:
    """Return a report that kills a worker of this process after every update."""
    import os
    import random
    import signal

    from compiler_gym.testing import descendants

    def report(update: Any) -> None:
        workers = sorted(descendants(os.getpid()))
        os.kill(random.Random(update.steps).choice(workers[1:]), signal.SIGKILL)

    return report


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_dqn_learns_a_program() -> None:
    pytest.importorskip("torch", reason="torch is missing")
    dqn: Any = load_agent("dqn")
    options = dqn.Options(train=(PROGRAM,), actions=FEW, steps=900, episode=6, seed=1)
    values, earned = dqn.train(options)
    assert dqn.evaluate(values, options, [PROGRAM])[PROGRAM] > 0.7
    assert sum(earned[-30:]) > sum(earned[:30])
