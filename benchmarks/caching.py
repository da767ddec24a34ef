# SPDX-License-Identifier: MIT
"""What the transposition cache saves: for random and greedy episodes and for a learner.

Each kind of episode runs with the same random numbers without a cache, with a fresh one and
with that one again, as another process would that shares its file; each must earn the same.
"""

import importlib.util
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure
from compiler_gym import make
from compiler_gym.service.caching import TranspositionCache

PROGRAM = "cbench-v1/sha"
SPACES: dict[str, Any] = {"observation_space": "Autophase", "reward_space": "IrInstructionCountOz"}
Episodes = Callable[[Any], float]
Run = Callable[[TranspositionCache | None], tuple[float, float]]
"""Runs with a cache or without, and returns the seconds and what was earned."""
AGENT = Path(__file__).parents[1] / "agents" / "ppo.py"


def measure() -> list[Figure]:
    figures: list[Figure] = []
    for name, episodes in (
        ("random episodes, 123 passes", lambda env: _random(env, range(123), 60)),
        ("random episodes, 12 passes", lambda env: _random(env, range(0, 123, 10), 60)),
        ("greedy search", lambda env: _greedy(env, 5)),
        ("Q-learning, 15 passes", _learner),
    ):
        figures += _compare(name, lambda cache, play=episodes: _run(play, cache))
    if importlib.util.find_spec("torch") is not None:
        figures += _compare("PPO, 15 passes", _ppo)
    return figures


def _compare(name: str, run: Run) -> list[Figure]:
    plain_seconds, plain_reward = run(None)
    with TranspositionCache() as cache:
        cached_seconds, cached_reward = run(cache)
        rate = cache.statistics.hit_rate
        warm_seconds, warm_reward = run(cache)
    assert cached_reward == warm_reward == plain_reward, (name, cached_reward, plain_reward)
    return [
        Figure(f"{name}: known transitions", 100 * rate, "%"),
        Figure(
            f"{name}: time without a cache against a full one", plain_seconds / warm_seconds, "x"
        ),
        Figure(
            f"{name}: time without a cache against with one", plain_seconds / cached_seconds, "x"
        ),
    ]


def _run(episodes: Episodes, cache: TranspositionCache | None) -> tuple[float, float]:
    with make("llvm-v0", benchmark=PROGRAM, cache=cache, **SPACES) as env:
        env.reset()
        started = time.perf_counter()
        reward = episodes(env)
        return time.perf_counter() - started, reward


def _random(env: Any, passes: range, count: int) -> float:
    generator, total = random.Random(0), 0.0
    for _ in range(count):
        env.reset()
        for _ in range(20):
            total += env.step(generator.choice(passes))[1]
    return total


def _greedy(env: Any, steps: int) -> float:
    """Take the best single action, again and again; a state's actions are tried by forks."""
    env.reset()
    total = 0.0
    for _ in range(steps):
        rewards = []
        for action in range(123):
            with env.fork() as fork:
                rewards.append(fork.step(action)[1])
        best = max(range(123), key=rewards.__getitem__)
        total += env.step(best)[1]
    return total


def _learner(env: Any) -> float:
    """Q-learning over states by their hash, which comes back to what it knows."""
    generator = random.Random(0)
    passes = range(0, 120, 8)
    values: dict[tuple[str, int], float] = {}
    total = 0.0
    for episode in range(80):
        env.reset()
        state = env.observation["IrHash"]
        for _ in range(8):
            explores = generator.random() < max(0.1, 1 - episode / 40)
            action = max(passes, key=lambda a, s=state: values.get((s, a), 0.0))
            if explores:
                action = generator.choice(passes)
            reward = env.step(action)[1]
            after = env.observation["IrHash"]
            future = max(values.get((after, a), 0.0) for a in passes)
            old = values.get((state, action), 0.0)
            values[state, action] = old + 0.5 * (reward + 0.9 * future - old)
            state, total = after, total + reward
    return total


def _ppo(cache: TranspositionCache | None) -> tuple[float, float]:
    """Train agents/ppo.py for a while; only PyTorch makes it slower than its compiler."""
    spec = importlib.util.spec_from_file_location("agents_ppo", AGENT)
    assert spec is not None
    assert spec.loader is not None
    ppo = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ppo)
    with make("llvm-v0") as env:
        passes = tuple(env.action_space.names[:120:8])
    options = ppo.Options(train=(PROGRAM,), actions=passes, steps=2048, episode=8, seed=1)
    started = time.perf_counter()
    _, history = ppo.train(options, cache=cache)
    return time.perf_counter() - started, sum(update.episode_reward for update in history)
