# SPDX-License-Identifier: MIT
"""Do the validators catch what is wrong and leave in peace what is right?

    python -m benchmarks.validation planted     plant wrong edits; write the detection table
    python -m benchmarks.validation honest      validate honest random episodes; write the table

Tables go to docs/guide/validation.md, between the marks of their names.
"""

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from statistics import median

import compiler_gym
from benchmarks.measure import Figure
from compiler_gym.core import CompilerEnv, CompilerEnvState
from compiler_gym.datasets import Benchmark, RunCase
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.validation import QUICK, RUNGS
from compiler_gym.envs.llvm.validation.runs import FURTHER, compare_module, more_cases
from compiler_gym.envs.llvm.validation.sanitizers import SANITIZERS, reports_of
from compiler_gym.runs import RunFolder
from compiler_gym.validation import Verdict, chosen_cases
from tools.plant import KINDS, Edit, plant

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "validation.md"
LEVEL = "-Oz"
ORACLE = 200
"""Inputs that no rung uses: an effect that only they show was missed."""
OUTCOMES = ("run", "more", "asan", "missed", "no effect", "not reached")
RUNGS_IN_ORDER = ["replay", *(rung.name for rung in RUNGS)]
MOST_ACTIONS = 30
SECONDS = 2.0
"""Time limit of an edited program: many hang."""


@dataclass(frozen=True, slots=True)
class Planted:
    """One edit and who reported it."""

    program: str
    edit: Edit
    outcome: str
    seconds: float


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


def planted(
    programs: Sequence[str],
    *,
    each: int,
    jobs: int = 1,
    oracle: int = ORACLE,
    run: RunFolder | None = None,
) -> list[Planted]:
    """Plant `each` edits of every kind in every program and return who reported them.

    With a `run` folder each edit is kept when it is judged, and not judged again.
    """
    work = [(name, kind, seed) for name in programs for kind in KINDS for seed in range(each)]
    modules = dict(_optimised(programs))

    def judge(item: tuple[str, str, int]) -> Planted | None:
        name, kind, seed = item
        edit = plant(modules[name][1], kind, seed)
        return None if edit is None else _judge(name, modules[name][0], edit, oracle, run)

    with ThreadPoolExecutor(jobs) as pool:
        rows = [judged for judged in pool.map(judge, work) if judged is not None]
    # Small programs have few places for an edit: two seeds may choose the same.
    return list({(row.program, row.edit.kind, row.edit.text): row for row in rows}.values())


def _optimised(programs: Sequence[str]) -> Iterator[tuple[str, tuple[Benchmark, str]]]:
    with compiler_gym.make("llvm-v0", action_space="PassesAndPipelines") as env:
        assert isinstance(env, LlvmEnv)
        for name in programs:
            env.reset(benchmark=f"cbench-v1/{name}")
            env.step(env.action_space[LEVEL])
            benchmark = env.benchmark
            assert benchmark is not None
            assert benchmark.run is not None
            benchmark.run = replace(benchmark.run, time_limit=SECONDS)
            yield name, (benchmark, env.ir)


def _judge(
    name: str, benchmark: Benchmark, edit: Edit, oracle: int, run: RunFolder | None
) -> Planted:
    key = f"{name}: {edit.kind}: {sha256(edit.text.encode()).hexdigest()[:16]}"
    known = None if run is None else run.result_of(key)
    if known is not None:
        return Planted(name, edit, known["outcome"], known["seconds"])
    started = time.monotonic()
    outcome = _outcome(benchmark, edit, oracle)
    seconds = time.monotonic() - started
    if run is not None:
        run.record(key, {"outcome": outcome, "seconds": round(seconds, 1)})
    return Planted(name, edit, outcome, seconds)


def _outcome(benchmark: Benchmark, edit: Edit, oracle: int) -> str:
    text, spec = edit.text.encode(), benchmark.run
    assert spec is not None
    further = more_cases(spec)
    for rung, cases in (("run", None), ("more", further)):
        if _differs(benchmark, text, cases):
            return rung
    if reports_of(SANITIZERS[0], text, chosen_cases(spec, most=6), spec.link):
        return "asan"
    numbers = range(FURTHER, FURTHER + oracle)
    unseen = [spec.more(number) for number in numbers] if spec.more is not None else []
    if _differs(benchmark, text, unseen):
        return "missed"
    everything = [*chosen_cases(spec), *further, *unseen]
    return "no effect" if _differs(benchmark, edit.marked.encode(), everything) else "not reached"


def _differs(benchmark: Benchmark, module: bytes, cases: Sequence[RunCase] | None) -> bool:
    return compare_module(benchmark, module, cases).verdict is Verdict.FAILED


def planted_table(rows: Sequence[Planted]) -> str:
    """Return the detection table."""
    counts = Counter((row.edit.kind, row.outcome) for row in rows)
    lines = [
        "| edit | planted | reported by `run` | by `more` | by `asan` | missed "
        "| reached, no effect on any input | reached by no input |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for kind in (*KINDS, "all"):
        numbers = [
            sum(n for (k, o), n in counts.items() if o == outcome and kind in (k, "all"))
            for outcome in OUTCOMES
        ]
        lines.append(f"| {kind} | {sum(numbers)} | " + " | ".join(map(str, numbers)) + " |")
    programs = len({row.program for row in rows})
    seen = sum(n for (_, o), n in counts.items() if o in ("run", "more", "asan"))
    effects = seen + sum(n for (_, o), n in counts.items() if o == "missed")
    lines += [
        "",
        f"{len(rows)} edits in {programs} programs after {LEVEL}. "
        f"{seen} of the {effects} whose effect some input shows are reported. "
        f"An edit counts as missed if one of {ORACLE} inputs that no rung uses shows an effect.",
    ]
    return "\n".join(lines)


def honest(
    programs: Sequence[str], *, episodes: int, jobs: int = 1, run: RunFolder | None = None
) -> str:
    """Validate honest random episodes and return the table.

    With a `run` folder each episode is kept when it is done, and not repeated.
    """

    def verdicts(number: int) -> dict[str, str]:
        known = None if run is None else run.result_of(str(number))
        found = _episode(programs, number) if known is None else known
        if run is not None and known is None:
            run.record(str(number), found)
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


def _episode(programs: Sequence[str], number: int) -> dict[str, str]:
    """Run one random episode and return the verdict of each rung asked."""
    generator = random.Random(number)
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCountOz") as env:
        assert isinstance(env, LlvmEnv)
        state = _random_state(env, generator, programs[number % len(programs)])
        if state is None:
            return {"episode": "unknown"}
        rungs = {*QUICK}
        rungs |= {"more"} if number % 5 == 0 else set()
        rungs |= {"asan", "ubsan", "msan"} if number % 10 == 0 else set()
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


def programs_of(names: Sequence[str]) -> list[str]:
    """Return `names`, or every bundled program."""
    with compiler_gym.make("llvm-v0") as env:
        uris = env.datasets["benchmark://cbench-v1"].benchmark_uris()
        return list(names) or [uri.rpartition("/")[2] for uri in uris]


def write_table(name: str, table: str, page: Path = PAGE) -> None:
    """Put `table` between the marks of `name` on the page."""
    text = page.read_text(encoding="utf-8")
    pattern = re.compile(rf"(<!-- {name}:.*?-->\n).*?(<!-- end {name} -->)", re.DOTALL)
    changed, found = pattern.subn(lambda m: f"{m[1]}\n{table}\n\n{m[2]}", text)
    if not found:
        raise SystemExit(f"{page} has no marks for {name}")
    page.write_text(changed, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validation", description=__doc__)
    parser.add_argument("table", choices=("planted", "honest"))
    parser.add_argument("programs", nargs="*", help="bundled programs [default: all]")
    parser.add_argument("--each", type=int, default=2, help="edits of each kind in each program")
    parser.add_argument("--episodes", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--run", type=Path, help="a run folder: goes on from there")
    parser.add_argument("--print", action="store_true", help="write no page")
    options = parser.parse_args()
    programs = programs_of(options.programs)
    started = time.monotonic()
    config = {"programs": programs}
    run = RunFolder.open(options.run, "evaluation", config) if options.run else None
    if options.table == "planted":
        rows = planted(programs, each=options.each, jobs=options.jobs, run=run)
        for row in rows:
            if row.outcome == "missed":
                print(f"missed: {row.program} {row.edit.function}: {row.edit.before}")
        table = planted_table(rows)
    else:
        table = honest(programs, episodes=options.episodes, jobs=options.jobs, run=run)
    print(table)
    print(f"{time.monotonic() - started:.0f} s")
    if not options.print:
        write_table(options.table, table)


if __name__ == "__main__":
    main()
