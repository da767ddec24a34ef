# SPDX-License-Identifier: MIT
"""The leaderboard of CompilerGym 0.2.5: instruction counts of cBench against -Oz.

from compiler_gym.leaderboard.llvm_instcount import eval_llvm_instcount_policy

def my_policy(env):
    env.step(env.action_space.sample())

if __name__ == "__main__":
    eval_llvm_instcount_policy(my_policy)
"""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnvStateReader, CompilerEnvStateWriter
from compiler_gym.registration import make
from compiler_gym.statistics import geometric_mean
from compiler_gym.tools.learn.leaderboard.evaluation import Policy, evaluate
from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask, Limit
from compiler_gym.validation import validate_states


def eval_llvm_instcount_policy(policy: Policy, argv: Sequence[str] | None = None) -> None:
    """Evaluate `policy` on every program, print the results and write them as states.

    `policy` takes an environment at the start of an episode and steps it to the state to be judged.
    Options come from the command line (or `argv`); see ``--help``. An existing results file is
    replaced, or completed with ``--resume``. Exits with status 1 if a state cannot be validated.
    """
    options = _parse_arguments(sys.argv[1:] if argv is None else argv)
    limit = Limit(seconds=options.max_seconds)
    task = LeaderboardTask(
        "llvm-instcount", "", limit, environment="llvm-v0", programs=(options.test_dataset,)
    )
    with make(task.environment) as env:
        uris = list(task.uris(env))[: options.max_benchmarks or None]
    results = Path(options.leaderboard_results)
    if not options.resume:
        results.unlink(missing_ok=True)
    states = list(CompilerEnvStateReader.read_paths([results])) if results.is_file() else []
    with CompilerEnvStateWriter(results.open("a", encoding="utf-8"), header=not states) as writer:
        for uri in uris * options.n:
            if sum(state.benchmark == uri for state in states) < options.n:
                (outcome,) = evaluate(policy, task, programs=[uri]).outcomes
                states.append(outcome.state)
                writer.write_state(outcome.state, flush=True)
                print(f"{uri}  {outcome.state.reward}  {outcome.walltime:.3f} s  {outcome.error}")
    print(f"Number of inferences: {len(states)}")
    print(f"Mean inference walltime: {sum(s.walltime for s in states) / len(states):.3f} s")
    print(f"Geometric mean of the reward: {geometric_mean([s.reward or 0.0 for s in states])}")
    if options.validate:
        make_env = partial(make, task.environment, reward_space=task.reward_space)
        wrong = [result for result in validate_states(make_env, states) if not result.okay()]
        print(f"validated {len(states)} states: {len(wrong)} wrong", *wrong, sep="\n")
        if wrong:
            raise SystemExit(1)


def _parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Return the options with absl's spellings; flags of a script that uses absl go to absl."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--leaderboard_results", default="llvm_instcount-results.csv")
    parser.add_argument("--leaderboard_logfile", help="ignored; the results are printed")
    parser.add_argument("--n", type=int, default=10, help="repetitions of each program")
    parser.add_argument("--max_benchmarks", type=int, default=0, help="most programs; 0: all")
    parser.add_argument("--test_dataset", default="benchmark://cbench-v1")
    parser.add_argument("--max_seconds", type=float, default=float("inf"))
    for name, default in (("validate", True), ("resume", False)):
        true, false = (f"--{name}", f"--{name}=true"), (f"--no{name}", f"--{name}=false")
        parser.add_argument(*true, dest=name, action="store_true", default=default)
        parser.add_argument(*false, f"--no-{name}", dest=name, action="store_false")
    options, unknown = parser.parse_known_args(list(argv))
    absl: Any = sys.modules.get("absl.flags")
    if absl is not None:
        unknown = absl.FLAGS([sys.argv[0], *unknown], known_only=True)[1:]
    if unknown or options.n < 1:
        parser.error(f"unknown arguments: {' '.join(unknown)}" if unknown else "--n must be >= 1")
    return options
