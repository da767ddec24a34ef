# SPDX-License-Identifier: MIT
"""One round of the same work on whichever compiler_gym this interpreter has: JSON to JSON.

It runs as a file, with CompilerGym 0.2.5 or with ours, and uses only what both have. Standard
input names the program (the path of bitcode that both read) and the actions.
"""

import gc
import itertools
import json
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
os.environ.setdefault("GYM_DISABLE_WARNINGS", "1")

import compiler_gym  # noqa: E402 - its imports warn too

MOST_CRASHES = 30
"""The episodes of a round in which the old compiler may crash; they do not count."""
IS_OLD = compiler_gym.__version__.startswith("0.")


def main():
    print(json.dumps(measure(**json.load(sys.stdin))))


def measure(program, actions, seconds, is_idle):
    """Return the seconds of an episode and of its reset; more if the machine is idle."""
    program = benchmark_of(program)
    env = made(program)
    try:
        env.observation_space, env.reward_space = "Autophase", "IrInstructionCountOz"
        env.reset(benchmark=program)
        known = list(env.action_space.names)
        actions = [known.index(name) for name in actions]
        found = {
            "instructions": int(env.observation["IrInstructionCount"]),
            "changed": sum(apply(env, action) for action in actions),
            **episodes(env, program, actions, 15, seconds),
        }
        if is_idle:
            found |= episodes(env, program, actions, 45, seconds / 2)
            env.observation_space = env.reward_space = None
            found[f"multistep of {len(actions)} actions"] = multistep(
                env, program, actions, seconds / 10
            )
            found["fork"] = forks(env, program, actions[:10], seconds / 10)
        return found
    finally:
        env.close()


def benchmark_of(path):
    name = Path(path).stem
    if IS_OLD:
        from compiler_gym.datasets import Benchmark

        return Benchmark.from_file("benchmark://user-v0/" + name, Path(path))
    from compiler_gym.envs.llvm import make_benchmark

    return make_benchmark(Path(path))


def made(program):
    if IS_OLD:  # it would download the program it starts from otherwise
        return compiler_gym.make("llvm-v0", benchmark=program)
    return compiler_gym.make("llvm-v0", benchmark=program, action_space="CompilerGymV0")


def apply(env, action):
    """Take a step; return whether it changed the program."""
    result = env.step(action)
    if result[2] or result[3] is True:
        raise RuntimeError(str(result[-1])[:300])
    return not result[-1].get("action_had_no_effect", False)


def episodes(env, program, actions, length, seconds):
    """Play episodes of the actions in turn; return the mean of one and the median reset."""
    turn, resets, times, crashes = itertools.cycle(actions), [], [], 0
    gc.collect()
    ends = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < ends:
        started = time.perf_counter()
        reset = measure_seconds(lambda: env.reset(benchmark=program))
        try:
            for action in itertools.islice(turn, length):
                apply(env, action)
        except RuntimeError:
            crashes += 1
            if not IS_OLD or crashes > MOST_CRASHES:
                raise
            continue
        times.append(time.perf_counter() - started)
        resets.append(reset)
    name = f"{length} steps"
    return {
        f"episode of {name}": statistics.mean(times),
        f"reset after {name}": statistics.median(resets),
    }


def multistep(env, program, actions, seconds):
    return middle(lambda: env.multistep(actions), seconds, lambda: env.reset(benchmark=program))


def forks(env, program, actions, seconds):
    env.reset(benchmark=program)
    env.multistep(actions)
    twins = []

    def close():
        while twins:
            twins.pop().close()

    try:
        return middle(lambda: twins.append(env.fork()), seconds, close)
    finally:
        close()


def middle(work, seconds, before):
    """Return the median time of `work`, done for `seconds`, `before` included, and three times."""
    gc.collect()
    times = []
    ends = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < ends:
        before()
        times.append(measure_seconds(work))
    return statistics.median(times)


def measure_seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
