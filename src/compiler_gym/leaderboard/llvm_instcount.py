# SPDX-License-Identifier: MIT
"""The leaderboard of CompilerGym 0.2.5: instructions of cBench's programs, against -Oz.

from compiler_gym.leaderboard.llvm_instcount import eval_llvm_instcount_policy

def my_policy(env):
    env.step(env.action_space.sample())

if __name__ == "__main__":
    eval_llvm_instcount_policy(my_policy)
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev

from compiler_gym.core import CompilerEnvState, CompilerEnvStateReader, CompilerEnvStateWriter
from compiler_gym.leaderboard.evaluation import Outcome, Policy, evaluate
from compiler_gym.leaderboard.metrics import geometric_mean
from compiler_gym.leaderboard.task import Limit, Task
from compiler_gym.registration import make

__all__ = ["eval_llvm_instcount_policy"]


def eval_llvm_instcount_policy(policy: Policy, argv: Sequence[str] | None = None) -> None:
    """Evaluate `policy` on every program, print the results and write them as states.

    `policy` takes an environment at the start of an episode and steps it to where it
    wants to be judged. Options come from the command line (or `argv`): see ``--help``.
    States that the results file holds already are not repeated.
    """
    options = _parser().parse_args(sys.argv[1:] if argv is None else argv)
    task = Task(
        "llvm-instcount",
        "IR instructions against -Oz",
        Limit(seconds=options.max_seconds),
        programs=(options.test_dataset,),
        repetitions=options.n,
    )
    with make(task.environment) as env:
        uris = list(task.uris(env))[: options.max_benchmarks or None]
    results = Path(options.leaderboard_results)
    known = list(CompilerEnvStateReader.read_paths([results])) if results.is_file() else []
    print(f"{len(uris)} programs, {task.repetitions} times each; results in {results}")
    for number in range(task.repetitions):
        for uri in uris:
            if sum(state.benchmark == uri for state in known) > number:
                continue
            once = replace(task, repetitions=1, seed=number)
            (outcome,) = evaluate(policy, once, programs=[uri]).outcomes
            known.append(outcome.state)
            _append(results, outcome.state)
            _print(outcome)
    _conclude(known)
    if options.validate:
        _validate(known)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Evaluate a policy on the programs of a dataset.")
    parser.add_argument("--leaderboard_results", default="llvm_instcount-results.csv")
    parser.add_argument("--n", type=int, default=10, help="repetitions of each program")
    parser.add_argument("--max_benchmarks", type=int, default=0, help="0: all of them")
    parser.add_argument("--test_dataset", default="benchmark://cbench-v1")
    parser.add_argument("--max_seconds", type=float, default=3600.0, help="for each program")
    parser.add_argument("--validate", action=argparse.BooleanOptionalAction, default=True)
    return parser


def _append(path: Path, state: CompilerEnvState) -> None:
    is_new = not path.is_file()
    with CompilerEnvStateWriter(path.open("a", encoding="utf-8"), header=is_new) as writer:
        writer.write_state(state, flush=True)


def _print(outcome: Outcome) -> None:
    state = outcome.state
    print(
        f"{state.benchmark}  reward {state.reward:.4f}  {outcome.walltime:.3f} s"
        + (f"  {outcome.error}" if outcome.error else ""),
        flush=True,
    )


def _conclude(states: list[CompilerEnvState]) -> None:
    rewards = [state.reward for state in states if state.reward is not None]
    times = [state.walltime for state in states]
    spread = f" (std: {stdev(times):.3f})" if len(times) > 1 else ""
    print("----------------------------------------------------")
    print(f"Number of inferences: {len(states)}")
    print(f"Mean inference walltime: {mean(times) if times else 0.0:.3f} s{spread}")
    found = geometric_mean(rewards)
    words = "undefined: a reward is not above 0" if found is None else f"{found:.4f}"
    print(f"Geometric mean of the reward: {words}")


def _validate(states: list[CompilerEnvState]) -> None:
    from compiler_gym.validation import validate_states

    started = time.monotonic()
    wrong = 0
    for result in validate_states(
        lambda: make("llvm-v0", reward_space="IrInstructionCountOz"), states
    ):
        if not result.okay():
            wrong += 1
            print(f"{result.state.benchmark}: {result.error_details}")
    print(f"{len(states)} states validated in {time.monotonic() - started:.1f} s, {wrong} wrong")
    if wrong:
        raise SystemExit(1)
