# SPDX-License-Identifier: MIT
"""What do the rungs cost, and do they leave in peace what is right?

    python -m benchmarks.validation [PROGRAM ...]     validate honest random episodes

The table goes to docs/results/validation.md. What the rungs catch is measured by
`benchmarks.planted`.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import compiler_gym
from benchmarks.measure import Figure
from benchmarks.tables import programs_of, write_table
from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.validation import QUICK, RUNGS
from compiler_gym.runs import RunFolder

RUNGS_IN_ORDER = ["replay", *(rung.name for rung in RUNGS)]
MOST_ACTIONS = 30


def measure() -> list[Figure]:
    """Return what each rung costs on a small and on the largest program."""
    figures = []
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        assert isinstance(env, LlvmEnv)
        for name in ("qsort", "ghostscript"):
            env.reset(benchmark=f"cbench-v1/{name}", seed=0)
            env.multistep([env.action_space[a] for a in ("sroa", "inline", "gvn", "simplifycfg")])
            results = [env.validate(rungs=None) for _ in range(3)]
            for rung in results[0].rungs:
                same = [one for result in results for one in result.rungs if one.name == rung.name]
                seconds = median(one.seconds for one in same)
                figures.append(Figure(f"{rung.name}, {name}", 1000 * seconds, "ms"))
    return figures


def honest(
    programs: Sequence[str],
    *,
    episodes: int,
    jobs: int = 1,
    run: RunFolder | None = None,
    rungs: Sequence[str] = (),
    is_loud: bool = False,
) -> str:
    """Validate honest random episodes and return the table.

    With a `run` folder each episode is kept when it is done, and not repeated. `rungs` are
    asked of every episode; by default the dear ones are asked of some.
    """

    def verdicts(number: int) -> dict[str, str]:
        known = None if run is None else run.find_result(str(number))
        found = _episode(programs, number, rungs) if known is None else known
        if run is not None and known is None:
            run.record(str(number), found)
        if is_loud and number % 50 == 49:
            print(f"{number + 1}/{episodes}", file=sys.stderr, flush=True)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        return honest_table(list(pool.map(verdicts, range(episodes))), len(programs))


def honest_table(found: Sequence[dict[str, str]], programs: int) -> str:
    """Return the table of what each rung said of each episode."""
    counts = Counter(verdict for results in found for verdict in results.items())
    names = dict.fromkeys(name for results in found for name in results if name != "episode")
    lines = ["| rung | ok | unknown | failed |", "|---|--:|--:|--:|"]
    for name in sorted(names, key=RUNGS_IN_ORDER.index):
        row = [counts[name, verdict] for verdict in ("ok", "unknown", "failed")]
        lines.append(f"| `{name}` | " + " | ".join(map(str, row)) + " |")
    alarms = sum("failed" in results.values() for results in found)
    lines += ["", f"{len(found)} episodes on {programs} programs: {alarms} false alarms."]
    ended = sum("episode" in results for results in found)
    if ended:
        lines.append(
            f"{ended} of them ended at once, when LLVM crashed or grew the program too far."
        )
    return "\n".join(lines)


def _episode(programs: Sequence[str], number: int, asked: Sequence[str]) -> dict[str, str]:
    """Run one random episode and return the verdict of each rung asked."""
    generator = random.Random(number)
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        assert isinstance(env, LlvmEnv)
        state = _random_state(env, generator, programs[number % len(programs)])
        if state is None:
            return {"episode": "unknown"}
        rungs = set(asked) or {*QUICK}
        rungs |= {"more", "generated"} if number % 5 == 0 and not asked else set()
        rungs |= {"asan", "ubsan", "msan"} if number % 10 == 0 and not asked else set()
        result = env.validate(state, rungs=rungs)
    if not result.okay():
        alarm = f"FALSE ALARM: {state.benchmark} {state.commandline}\n  {result.error_details}"
        print(alarm, flush=True)
    return {rung.name: rung.verdict.value for rung in result.rungs}


def _random_state(
    env: CompilerEnv, generator: random.Random, program: str
) -> CompilerEnvState | None:
    """Return the end of a random episode; None if LLVM failed at once."""
    env.reset(benchmark=f"cbench-v1/{program}")
    state = env.state
    for _ in range(generator.randint(1, MOST_ACTIONS)):
        _, _, _, truncated, _ = env.step(generator.randrange(env.action_space.n))
        if truncated:
            return state if state.commandline.count("passes") else None
        state = env.state
    return state


def main() -> None:
    """Validate episodes of what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation", description=__doc__)
    parser.add_argument("programs", nargs="*", help="bundled programs [default: all]")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument(
        "--rungs", nargs="*", default=[], help="asked of every episode [default: the dear of some]"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--run", type=Path, help="a run folder: goes on from there")
    parser.add_argument("--print", action="store_true", help="write no page")
    options = parser.parse_args()
    programs = programs_of(options.programs)
    started = time.monotonic()
    run = (
        RunFolder.open(options.run, "evaluation", {"programs": programs, "rungs": options.rungs})
        if options.run
        else None
    )
    table = honest(
        programs,
        episodes=options.episodes,
        jobs=options.jobs,
        run=run,
        rungs=options.rungs,
        is_loud=True,
    )
    print(table)
    print(f"{time.monotonic() - started:.0f} s")
    if not options.print:
        write_table("honest", table)


if __name__ == "__main__":
    main()
