# SPDX-License-Identifier: MIT
"""``compiler-gym search-rules``: search for a rule of the linker."""

from pathlib import Path
from typing import Annotated, Any

import typer

from compiler_gym.cli.kit.options import CompilerName
from compiler_gym.cli.kit.output import Json, output, print_json

__all__ = ["search_rules"]


def search_rules(
    programs: Annotated[
        str, typer.Option(help="Set of programs to save bytes on, such as small or train.")
    ] = "train",
    judge_on: Annotated[
        list[str] | None,
        typer.Option(help="Set of programs to judge the best rule on; can be repeated."),
    ] = None,
    decision: Annotated[
        list[str] | None,
        typer.Option(help="Decision to find a formula for; can be repeated [default: all]."),
    ] = None,
    trials: Annotated[int, typer.Option(min=1, help="Number of rules to judge.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    propose: Annotated[
        str | None,
        typer.Option(help="FILE.py[:NAME] with a function propose(history) [default: evolution]."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option("--output", help="Log of trials; an existing one is continued."),
    ] = None,
    compiler: CompilerName = None,
    json: Json = False,
) -> None:
    """Search for a rule that makes the linker save bytes.

    Rules are judged by the loaded bytes of the linked programs. The same command with the same
    --output continues a search.

    compiler-gym search-rules --programs train --trials 300 --output trials.jsonl
    """
    from compiler_gym.errors import InvalidParameterError, UnknownNameError, unknown_name
    from compiler_gym.lazy import load_from_file, part
    from compiler_gym.registration import make
    from compiler_gym_inline.rules import search_rules as search

    rules = part("rules", compiler)
    if unknown := [name for name in decision or () if name not in rules.DECISIONS]:
        raise UnknownNameError(unknown_name("decision", unknown[0], list(rules.DECISIONS)))
    proposer: Any = rules.Evolution(tuple(decision or rules.DECISIONS), seed)
    if propose is not None:
        path, _, name = propose.partition(":")
        try:
            proposer = load_from_file(Path(path), name or "propose")
        except FileNotFoundError:
            raise InvalidParameterError(f"no file {path}; name a file with propose()") from None
    best = 0.0

    def show(trial: Any) -> None:
        nonlocal best
        if trial.saved > best and not json:
            best = trial.saved
            output().print(f"{best:,.0f} bytes: {trial.rule}", markup=False, soft_wrap=True)

    with make(rules.ENVIRONMENT, reward_space="LoadedBytes") as env:
        env.reset(benchmark=f"{rules.PROGRAM_SETS}/{programs}")
        history = search(env, proposer, trials=trials, log=file, watch=show)
        winner = max(history, key=lambda trial: trial.saved)
        judged: dict[str, dict[str, float]] = {}
        for name in dict.fromkeys([programs, *(judge_on or ())]):
            env.reset(benchmark=f"{rules.PROGRAM_SETS}/{name}")
            _, saved, *_ = env.step(winner.rule)
            judged[name] = {"saved": float(saved), "plain": env.observation["LoadedBytesPlain"]}
    curve = [max(trial.saved for trial in history[: n + 1]) for n in range(len(history))]
    if json:
        print_json({"rule": winner.rule, "sets": judged, "curve": curve})
        return
    output().print(f"best of {len(history)} rules:\n{winner.rule}", markup=False, soft_wrap=True)
    for name, row in judged.items():
        share = 100 * row["saved"] / row["plain"]
        output().print(f"{name}: {row['saved']:,.0f} of {row['plain']:,} bytes ({share:.2f} %)")
