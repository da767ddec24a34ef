# SPDX-License-Identifier: MIT
"""The leaderboard of CompilerGym 0.2.5: instruction counts of cBench against -Oz.

from compiler_gym.tools.learn.leaderboard.llvm_instcount import eval_llvm_instcount_policy

def my_policy(env):
    env.step(env.action_space.sample())

if __name__ == "__main__":
    eval_llvm_instcount_policy(my_policy)
"""

import argparse
import logging
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from compiler_gym.core import CompilerEnvState, CompilerEnvStateReader, CompilerEnvStateWriter
from compiler_gym.registration import make
from compiler_gym.tools.learn.leaderboard import (
    LeaderboardTask,
    Limit,
    Outcome,
    Policy,
    evaluate,
    geometric_mean,
)

__all__ = ["eval_llvm_instcount_policy"]


def eval_llvm_instcount_policy(policy: Policy, argv: Sequence[str] | None = None) -> None:
    """Evaluate `policy` on every program, print the results and write them as states.

    `policy` takes an environment at the start of an episode and steps it to the state to be judged.
    Options come from the command line (or `argv`); see ``--help``. An existing results file is
    replaced, or completed with ``--resume``. Flags that your script defines with absl are passed to
    absl.
    """
    options = _parse_arguments(sys.argv[1:] if argv is None else argv)
    task = LeaderboardTask(
        "llvm-instcount",
        "IR instructions against -Oz",
        Limit(seconds=options.max_seconds),
        environment="llvm-v0",
        programs=(options.test_dataset,),
        repetitions=options.n,
        published_baseline="IrInstructionCountOptOz",
    )
    with make(task.environment) as env:
        uris = list(task.uris(env))[: options.max_benchmarks or None]
    results = Path(options.leaderboard_results)
    states = _read_known_results(results, resume=options.resume)
    print(f"{len(uris)} programs, {task.repetitions} repetitions each; results in {results}")
    with _log_to_file(Path(options.leaderboard_logfile)):
        for number in range(task.repetitions):
            for uri in uris:
                if sum(state.benchmark == uri for state in states) > number:
                    continue
                once = replace(task, repetitions=1, seed=number)
                (outcome,) = evaluate(policy, once, programs=[uri]).outcomes
                states.append(outcome.state)
                _append(results, outcome.state)
                _print(outcome)
    _conclude(states)
    if options.validate:
        _validate_states(states)


def _parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    parser = _parser()
    options, unknown = parser.parse_known_args(list(argv))
    absl: Any = sys.modules.get("absl.flags")
    if absl is not None and (unknown or not absl.FLAGS.is_parsed()):
        unknown = absl.FLAGS([sys.argv[0], *unknown], known_only=True)[1:]
    if unknown:
        parser.error(f"unknown arguments: {' '.join(unknown)}")
    if options.n < 1:
        parser.error(f"argument --n: must be at least 1 (got {options.n})")
    return options


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description="Evaluate a policy on the programs of a dataset.", allow_abbrev=False
    )
    parser.add_argument("--leaderboard_results", default="llvm_instcount-results.csv")
    parser.add_argument("--leaderboard_logfile", default="llvm_instcount-results.log")
    parser.add_argument("--n", type=int, default=10, help="repetitions of each program")
    parser.add_argument("--max_benchmarks", type=int, default=0, help="most programs; 0: all")
    parser.add_argument("--test_dataset", default="benchmark://cbench-v1")
    parser.add_argument(
        "--max_seconds", type=float, default=float("inf"), help="time limit for each program"
    )
    _add_switch(parser, "validate", default=True, text="validate the results at the end")
    _add_switch(parser, "resume", default=False, text="complete an existing results file")
    parser.add_argument("--helpfull", action="help", help="same as --help")
    return parser


def _add_switch(parser: argparse.ArgumentParser, name: str, *, default: bool, text: str) -> None:
    """Add a switch with absl's spellings ``--x``, ``--x=true``, ``--nox``, and ``--no-x``."""
    parser.add_argument(
        f"--{name}",
        nargs="?",
        type=_truth,
        const=True,
        default=default,
        metavar="true|false",
        help=text,
    )
    parser.add_argument(f"--no{name}", f"--no-{name}", dest=name, action="store_false")


def _truth(text: str) -> bool:
    values = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
    if text.lower() not in values:
        raise argparse.ArgumentTypeError(f"must be true or false (got {text})")
    return values[text.lower()]


def _read_known_results(results: Path, *, resume: bool) -> list[CompilerEnvState]:
    """Return the states to resume from; without `resume`, delete the file and return none."""
    if resume and results.is_file():
        return list(CompilerEnvStateReader.read_paths([results]))
    results.unlink(missing_ok=True)
    return []


@contextmanager
def _log_to_file(path: Path) -> Generator[None]:
    """Copy the library's log to a file."""
    handler = logging.FileHandler(path, delay=True)
    logger = logging.getLogger("compiler_gym")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        handler.close()


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
    mean_reward = geometric_mean(rewards)
    text = "undefined: a reward is not above 0" if mean_reward is None else f"{mean_reward:.4f}"
    print(f"Geometric mean of the reward: {text}")


def _validate_states(states: list[CompilerEnvState]) -> None:
    from compiler_gym.validation import validate_states

    started = time.monotonic()
    wrong = 0
    for result in validate_states(
        lambda: make("llvm-v0", reward_space="IrInstructionCountOz"), states
    ):
        if not result.okay():
            wrong += 1
            print(f"{result.state.benchmark}: {result.error_details}")
    print(f"validated {len(states)} states in {time.monotonic() - started:.1f} s: {wrong} wrong")
    if wrong:
        raise SystemExit(1)
