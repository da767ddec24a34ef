# SPDX-License-Identifier: MIT
# pyright: reportMissingImports=false, reportPrivateImportUsage=false
# PyTorch has no types for much of what it gives, and may not be installed:
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
"""PPO, trained on generated programs, against random search on programs it has never seen.

Both act in the same environment, with the same actions, masks and length of episodes.
An action is a compilation, and each may make as many. What a policy does first is its
one shot, the most likely actions; after that it draws its actions.
"""

import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from playing import Chooser, Played, at_random, play
from training_programs import COST, cut, generated, held_out

from compiler_gym.runs import RunFolder
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.tools.learn.integrations.learning import learning_env

sys.path.append(str(Path(__file__).parents[2] / "agents"))
import ppo

SNAPSHOTS = 4
"""How often in training a policy's one shot is tried on the programs held out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is compared; the defaults are those of the published figures."""

    seeds: int = 3
    """Policies that are trained, and random searches."""
    whole: int = 100
    """Generated programs to learn on."""
    functions: int = 120
    """Functions of generated programs to learn on, each a program of its own."""
    steps: int = 100_000
    """Compilations to learn from, for each policy."""
    compilations: int = 300
    """Compilations on each program that is held out."""
    episode: int = 30
    action_space: str = ""
    """The actions; the environment's own, LLVM's passes, without one."""
    test: tuple[str, ...] = ()
    """Names of programs that are held out; all without any."""

    def options(self, seed: int, train: tuple[str, ...]) -> ppo.Options:
        """Return the options of the agent."""
        return agent_options(
            train, self.steps, self.episode, seed=seed, action_space=self.action_space
        )


def agent_options(train: tuple[str, ...], steps: int, episode: int, **given: Any) -> ppo.Options:
    """Return the options of an agent that learns on `train` from `steps` compilations."""
    return ppo.Options(
        train=train,
        savings=COST,
        steps=steps,
        envs=8,
        episode=episode,
        horizon=min(64, max(steps // 8, 1)),
        **given,
    )


def compare(run: RunFolder, plan: Plan) -> None:
    """Train, play and record everything that `run` does not have yet."""
    torch.set_num_threads(1)
    known = run.find_result("training programs")
    if known is None:
        functions = cut(plan.functions, run.path / "functions") if plan.functions else []
        known = {"programs": [*generated(plan.whole), *functions]}
        run.record("training programs", known)
    train, test = tuple(known["programs"]), held_out(list(plan.test))
    for seed in range(plan.seeds):
        options = plan.options(seed, train)
        play_all(run, f"random {seed}", options, test, plan.compilations, seed, None)
        snapshots = trained(run, options, str(seed))
        for steps, policy in snapshots:
            method = f"one shot {seed} after {steps}"
            play_all(run, method, options, test, plan.episode, seed, policy)
        play_all(run, f"ppo {seed}", options, test, plan.compilations, seed, snapshots[-1][1])


def trained(run: RunFolder, options: ppo.Options, name: str) -> list[tuple[int, Path]]:
    """Return the policies of the training `name`, by the compilations they have seen."""
    folder = run.path / "policies"
    folder.mkdir(exist_ok=True)
    checkpoint = folder / f"{name}.checkpoint"
    updates = options.steps // (options.envs * options.horizon)
    wanted = {round(updates * (n + 1) / SNAPSHOTS) for n in range(SNAPSHOTS)} - {0}
    kept = {number * options.envs * options.horizon for number in wanted}
    paths = {steps: folder / f"{name}-{steps}.pt" for steps in sorted(kept)}

    def report(update: ppo.Update) -> None:
        run.progress(
            update.steps,
            seed=options.seed,
            episode_reward=update.episode_reward,
            seconds=update.seconds,
        )
        if update.steps in kept:
            known = torch.load(checkpoint, weights_only=True)
            torch.save(known["policy"], paths[update.steps])

    if not all(path.is_file() for path in paths.values()):
        with TranspositionCache() as cache:
            ppo.train(options, report, checkpoint=checkpoint, cache=cache)
    shutil.copyfile(paths[max(paths)], folder / f"{name}.pt")
    return list(paths.items())


def play_all(
    run: RunFolder,
    method: str,
    options: ppo.Options,
    test: list[str],
    compilations: int,
    seed: int,
    policy: Path | None,
) -> None:
    """Play every program that is held out by random choice, or by the policy of a file."""
    missing = [program for program in test if run.find_result(f"{method} {program}") is None]
    if not missing:
        return
    with learning_env(ppo.recipe(replace(options, train=()))) as env:
        for program in missing:
            choose = at_random(f"{seed} {program}")
            if policy is not None:
                choose = by_policy(loaded(policy, env, options), seed)
            played = play(env, program, choose, compilations)
            run.record(f"{method} {program}", played.plain(), played.state)


def loaded(path: Path, env: Any, options: ppo.Options) -> ppo.Policy:
    """Return the policy of a file."""
    policy = ppo.policy_for(env, options)
    policy.load_state_dict(torch.load(path, weights_only=True))
    return policy


def by_policy(policy: ppo.Policy, seed: int) -> Chooser:
    """Return what takes the most likely actions in the first episode, and draws after it."""
    generator = torch.Generator().manual_seed(seed)

    def choose(seen: Any, masks: Any, episode: int) -> int:
        with torch.no_grad():
            chosen = policy.choose(torch.as_tensor(seen[None]), torch.as_tensor(masks[None]))
        if episode == 0:
            return int(chosen.probs.argmax())
        return int(torch.multinomial(chosen.probs[0], 1, generator=generator))

    return choose


__all__ = ["Plan", "Played", "by_policy", "compare", "loaded", "play_all", "trained"]
