# SPDX-License-Identifier: MIT
"""What learning shows: PPO against random search, a cloned policy against -Oz, and what real code
teaches.

    python examples/learning_study/study.py ppo runs/ppo
    python examples/learning_study/study.py clone runs/clone --corpus /tmp/corpus
    python examples/learning_study/study.py real runs/real

Each keeps a run folder; the same command again goes on where it was killed. `report`
makes the tables and the plots of run folders that are there.
"""

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

import against_random
import cloning
import figures
import real_code
import training_programs

import compiler_gym
from compiler_gym.core import CompilerEnvStateReader
from compiler_gym.runs import RunFolder
from compiler_gym.search import write_json


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    options = _parser().parse_args(arguments)
    options.run(options)


def run_ppo(options: argparse.Namespace) -> None:
    """Train PPO and compare it with random search."""
    plan = _plan(against_random.Plan, options)
    with RunFolder.open(options.folder, "training", asdict(plan)) as run:
        against_random.compare(run, plan)


def run_clone(options: argparse.Namespace) -> None:
    """Search, clone and compare with -Oz."""
    programs = (
        training_programs.recorded(options.corpus, options.packages) if options.corpus else []
    )
    plan = _plan(cloning.Plan, options, recorded=tuple(programs))
    with RunFolder.open(options.folder, "training", asdict(plan)) as run:
        cloning.clone(run, plan)


def run_real(options: argparse.Namespace) -> None:
    """Train on generated and on real code and judge on real code."""
    plan = _plan(real_code.Plan, options)
    with RunFolder.open(options.folder, "training", asdict(plan)) as run:
        real_code.compare(run, plan)


def report(options: argparse.Namespace) -> None:
    """Write the tables of a run folder and draw its plot."""
    methods = figures.results(options.folder)
    is_ppo = any(method.startswith("ppo ") for method in methods)
    if any(method.startswith("real ") for method in methods):
        print(figures.real_table(options.folder))
        figures.plot_real(options.folder, options.image)
    elif is_ppo:
        print(figures.ppo_table(options.folder))
        figures.plot_ppo(options.folder, options.image)
    else:
        print(
            figures.clone_table(options.folder), figures.programs_table(options.folder), sep="\n\n"
        )
        figures.plot_clone(options.folder, options.image)


def check(options: argparse.Namespace) -> None:
    """Validate states that a run folder kept, drawn at random; print what is wrong."""
    with open(options.folder / "states.jsonl", encoding="utf-8") as file:
        known = [state for state in CompilerEnvStateReader(file) if state.commandline]
    drawn = random.Random(options.seed).sample(known, min(options.sample, len(known)))
    outcomes: list[dict[str, Any]] = []
    with compiler_gym.make("llvm-v0", action_space=cloning.mining.ACTIONS) as env:
        for state in drawn:
            result = env.validate(state)
            wrong = "" if result.okay() else result.error_details
            outcomes.append({"benchmark": state.benchmark, "okay": result.okay(), "wrong": wrong})
            print(f"{'okay' if result.okay() else 'WRONG'}  {state.benchmark}  {wrong}", flush=True)
    write_json(options.folder / "validation.json", {"drawn": len(drawn), "outcomes": outcomes})


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(required=True)
    ppo = commands.add_parser("ppo", help="PPO on generated programs against random search")
    ppo.set_defaults(run=run_ppo)
    clone = commands.add_parser("clone", help="a policy cloned from searches against -Oz")
    clone.add_argument("--corpus", type=Path, help="what record_corpus.py recorded")
    clone.add_argument("--packages", nargs="*", default=(), help="of it; all without any")
    clone.set_defaults(run=run_clone)
    real = commands.add_parser("real", help="what generated and what real code teaches")
    real.set_defaults(run=run_real)
    show = commands.add_parser("report", help="tables and a plot of a run folder")
    show.add_argument("folder", type=Path)
    show.add_argument("image", type=Path, help="the plot, .png")
    show.set_defaults(run=report)
    sample = commands.add_parser("check", help="validate states that a run folder kept")
    sample.add_argument("folder", type=Path)
    sample.add_argument("--sample", type=int, default=12, help="how many")
    sample.add_argument("--seed", type=int, default=0)
    sample.set_defaults(run=check)
    plans = ((ppo, against_random.Plan), (clone, cloning.Plan), (real, real_code.Plan))
    for command, plan in plans:
        command.add_argument("folder", type=Path, help="the run folder, new or to go on in")
        for item in fields(plan):
            if item.name == "recorded" or item.default is MISSING:
                continue
            several = isinstance(item.default, tuple)
            command.add_argument(
                f"--{item.name.replace('_', '-')}",
                type=str if several else item.type,
                nargs="*" if several else None,
                default=item.default,
            )
    return parser


def _plan(kind: Any, options: argparse.Namespace, **more: Any) -> Any:
    chosen = {f.name: getattr(options, f.name) for f in fields(kind) if f.name in options}
    lists = (f.name for f in fields(kind) if isinstance(f.default, tuple) and f.name in chosen)
    chosen |= {name: tuple(chosen[name]) for name in lists}
    return kind(**chosen | more)


if __name__ == "__main__":
    main(sys.argv[1:])
