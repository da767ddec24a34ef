# SPDX-License-Identifier: MIT
"""Search for better constants of a heuristic on some programs, and judge them on others.

    python examples/inliner/search_constants.py --train packages/a packages/b --test cbench-v1

One constant after the other is given each value of its list, the others stay as they are, and
what leaves the fewest bytes is kept, in rounds, until a round finds nothing. A program counts by
the logarithm of its size over -Oz's, and a loss twice: what grows a program is worse than what
shrinks another by as much is good.
"""

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import compiler_gym
from compiler_gym.errors import CompilerGymError
from compiler_gym_inline.llvm.policies import heuristic_policy

RULE = Path(__file__).with_name("llvm_rule.c")
VALUES: Mapping[str, Sequence[int]] = {
    "THRESHOLD": (5, 0, -5, -10, -20, -30, 15, 30),
    "USER": (0, 2, 5, 10, -5),
    "CALLER_BLOCK": (0, 1, -1),
    "CONSTANT": (0, 5, 15, -5),
    "LOOP": (0, 10, 30, -10),
    "LAST_CALL": (15000, 500, 100, 0),
}
"""What is tried for each constant, LLVM's own first."""
LOSS = 2.0
"""How often a loss counts."""


def addresses(names: Sequence[str], env: Any) -> list[str]:
    """Return the programs that datasets, folders and addresses name."""
    found: list[str] = []
    for name in names:
        known = [dataset.name for dataset in env.datasets.datasets()]
        if Path(name).is_dir():
            found += [f"file://{path.resolve()}" for path in sorted(Path(name).rglob("*.bc"))]
        elif f"benchmark://{name}" in known or name in known:
            found += env.datasets[name].benchmark_uris()
        else:
            found.append(name)
    return found


def usable(env: Any, programs: Sequence[str], smallest: int, largest: int) -> dict[str, int]:
    """Return the bytes that -Oz leaves of each program, of those between the bounds."""
    sizes: dict[str, int] = {}
    for program in programs:
        try:
            env.reset(benchmark=program)
            size = int(env.observation["ObjectTextSizeOz"])
        except CompilerGymError:
            continue
        if smallest <= size <= largest and env.observation["InlineFeatures"].any():
            sizes[program] = size
    return sizes


def ratios(env: Any, sizes: Mapping[str, int], constants: Mapping[str, int]) -> list[float]:
    """Return what the rule with these constants leaves of each program, over what -Oz leaves."""
    policy = heuristic_policy(RULE, {name: str(value) for name, value in constants.items()})
    found: list[float] = []
    for program, size in sizes.items():
        env.reset(benchmark=program)
        policy(env)
        found.append(int(env.observation["ObjectTextSizeBytes"]) / size)
    return found


def score(found: Sequence[float]) -> float:
    """Return how good ratios are: small is good."""
    logs = [math.log(ratio) for ratio in found]
    return sum(log if log < 0 else LOSS * log for log in logs) / len(logs)


def search(env: Any, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the best constants that one after the other finds."""
    best = {name: values[0] for name, values in VALUES.items()}
    least, before = score(ratios(env, sizes, best)), math.inf
    while least < before:
        before = least
        for name, values in VALUES.items():
            for value in values:
                if value == best[name]:
                    continue
                tried = score(ratios(env, sizes, best | {name: value}))
                if tried < least:
                    least, best = tried, best | {name: value}
                    print(f"{name}={value}: {least:.5f}", flush=True)
    return best


def report(found: Sequence[float], title: str) -> None:
    """Print how a rule did."""
    mean = math.exp(sum(map(math.log, found)) / len(found))
    print(
        f"{title}: {len(found)} programs, geometric mean {mean:.4f}, best {min(found):.4f}, "
        f"worst {max(found):.4f}; smaller {sum(r < 1 for r in found)}, "
        f"larger {sum(r > 1 for r in found)}, by more than 1 % {sum(r > 1.01 for r in found)}"
    )


def main(words: Sequence[str] | None = None) -> None:
    """Search and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs="+", required=True, help="programs to search on")
    parser.add_argument("--test", nargs="+", required=True, help="programs to judge on")
    parser.add_argument("--smallest", type=int, default=500, help="bytes of code, at least")
    parser.add_argument("--largest", type=int, default=30_000, help="bytes of code, at most")
    parser.add_argument("--most", type=int, default=100, help="programs to search on, at most")
    options = parser.parse_args(words)
    with compiler_gym.make("llvm-inline-v0") as env:
        every = usable(env, addresses(options.train, env), options.smallest, options.largest)
        names = sorted(every)
        count = min(int(options.most), len(names))
        chosen = {names[at * len(names) // count]: 0 for at in range(count)}
        sizes = {name: every[name] for name in chosen}
        best = search(env, sizes)
        print(json.dumps(best))
        report(ratios(env, sizes, best), "searched on")
        held_out = usable(env, addresses(options.test, env), 1, 1 << 30)
        report(ratios(env, held_out, best), "judged on")


if __name__ == "__main__":
    main()
