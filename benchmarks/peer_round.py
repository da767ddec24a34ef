# SPDX-License-Identifier: MIT
"""One round of the same work on whichever compiler_gym this interpreter has: JSON to JSON.

It runs as a file, with CompilerGym 0.2.5 or with ours, and uses only what both have. Standard
input names the programs (paths of bitcode that both read) and the actions (names).
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

import compiler_gym  # noqa: E402 - its imports warn too

IS_OLD = compiler_gym.__version__.startswith("0.")
KINDS = {
    "step + IrInstructionCount": (None, "IrInstructionCount"),
    "step + Autophase + IrInstructionCountOz": ("Autophase", "IrInstructionCountOz"),
}

SMALL = (
    "-sroa", "-early-cse", "-simplifycfg", "-dce", "-reassociate", "-adce", "-sccp", "-bdce",
)  # fmt: skip
"""Passes that take some tens of microseconds on a small program that they have improved before."""
LENGTHS = (15, 45)
"""Steps of a learner's episode."""


def main():
    asked = json.load(sys.stdin)
    measure = as_learner if asked.get("as_learner") else measured
    done = {path: measure(path, asked["actions"], asked["seconds"]) for path in asked["programs"]}
    # The old library prints; what counts is the last line.
    print(json.dumps({"version": compiler_gym.__version__, "programs": done}))


def measured(path, names, seconds):
    """Return the least seconds of everything on the program at `path`."""
    program = benchmark_of(path)
    env = made(program)
    try:
        env.reset(benchmark=program)
        known = list(env.action_space.names)
        actions = [known.index(name) for name in names]
        found = {"instructions": int(env.observation["IrInstructionCount"])}
        found["reset"] = least(lambda: env.reset(benchmark=program), seconds)
        for kind, (observation, reward) in KINDS.items():
            env.observation_space, env.reward_space = observation, reward
            found[kind], changed = steps(env, program, actions, seconds)
            found["changed"] = changed
        env.observation_space = env.reward_space = None
        found["multistep"] = multistep(env, program, actions, seconds)
        env.reset(benchmark=program)
        env.multistep(actions[:10])
        found.update(forks(env, seconds))
        return found
    finally:
        env.close()


def as_learner(path, names, seconds):
    """Return what a learner waits for: the median seconds of a small step and of a reset."""
    program = benchmark_of(path)
    env = made(program)
    try:
        env.observation_space, env.reward_space = "Autophase", "IrInstructionCount"
        env.reset(benchmark=program)
        known = list(env.action_space.names)
        actions = [known.index(name) for name in names]
        small = itertools.cycle(known.index(name) for name in SMALL)
        found = {
            "instructions": int(env.observation["IrInstructionCount"]),
            "small step": middle(lambda: env.step(next(small)), seconds),
        }
        for count in LENGTHS:
            found[f"reset after {count} steps"] = middle(
                lambda: env.reset(benchmark=program),
                seconds,
                lambda count=count: [env.step(action) for action in actions[:count]],
            )
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


def steps(env, program, actions, seconds):
    """Return the least seconds of the actions as steps, and how many changed the program."""
    changed = []

    def play():
        changed.clear()
        for action in actions:
            result = env.step(action)
            info = result[-1]
            if result[2] or result[3] is True:
                raise RuntimeError(str(info)[:300])
            changed.append(not info.get("action_had_no_effect", False))

    return least(play, seconds, lambda: env.reset(benchmark=program)), sum(changed)


def multistep(env, program, actions, seconds):
    return least(lambda: env.multistep(actions), seconds, lambda: env.reset(benchmark=program))


def forks(env, seconds):
    """Return the least seconds of a fork, and of a bare one of the same process where it tells."""
    twins = []

    def close():
        while twins:
            twins.pop().close()

    found = {"fork": least(lambda: twins.append(env.fork()), seconds, close)}
    close()
    if not IS_OLD:
        found["bare fork"] = bare_fork(env, seconds)
    return found


def bare_fork(env, seconds):
    """Return the least seconds until a plain fork of a worker in the same state answers."""
    from benchmarks.timed_session import bare_fork_seconds

    twin = made(env.benchmark)
    try:
        return bare_fork_seconds(twin, env, seconds)
    finally:
        twin.close()


def least(work, seconds, before=lambda: None):
    """Return the least time of `work`, repeated for `seconds` and three times at least."""
    gc.collect()
    times = []
    while len(times) < 3 or sum(times) < seconds:
        times.append(timed(work, before))
    return min(times)


def middle(work, seconds, before=lambda: None):
    """Return the median time of `work`, repeated until `seconds` are over, `before` included."""
    gc.collect()
    times = []
    ends = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < ends:
        times.append(timed(work, before))
    return statistics.median(times)


def timed(work, before):
    before()
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    if IS_OLD:
        os.environ.setdefault("GYM_DISABLE_WARNINGS", "1")
    main()
