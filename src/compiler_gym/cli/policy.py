# SPDX-License-Identifier: MIT
"""``compiler-gym policy``: measure what makes programs small, and judge it on others."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from compiler_gym.cli._failures import INTERRUPTED
from compiler_gym.cli._options import Group
from compiler_gym.cli._output import Json, errors, output, print_json, show, table

__all__ = ["policy"]

policy = typer.Typer(
    name="policy",
    cls=Group,
    help="Measure what makes the linked programs of a corpus small, and judge it on others.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)

Corpus = Annotated[
    str,
    typer.Argument(help="A dataset, a corpus file, or a folder of built packages."),
]
Splits = Annotated[
    list[str] | None, typer.Option("--split", help="Programs of this split; may be repeated.")
]
PerPackage = Annotated[
    int, typer.Option(help="At most so many programs of a package; 0 for all.", min=0)
]
Most = Annotated[
    int,
    typer.Option("--most", help="No program with more instructions; 0 for all.", min=0),
]
_LEARNT_FROM = ("train", "validation")
_JUDGED_BY = ("test", "")


@policy.callback()
def groups() -> None:
    """Measure what makes the linked programs of a corpus small, and judge it on others."""


@policy.command()
def measure(
    corpus: Corpus,
    folder: Annotated[Path, typer.Option("--output", help="The folder of the outcomes.")],
    split: Splits = None,
    per_package: PerPackage = 4,
    most: Most = 60_000,
    recipe: Annotated[str, typer.Option(help="The recipe that is changed.")] = "small",
    json: Json = False,
) -> None:
    """Compile the programs of a corpus by a recipe and its variants, and keep what they weigh.

    Without --split these are the programs of the splits train and validation: whatever is chosen
    by what is measured must not be judged by it. Ctrl-C and a kill lose one measurement; the same
    command goes on.
    """
    learner = _learner()
    choice = learner.Choice(tuple(split or _LEARNT_FROM), per_package, most)
    try:
        with _watching("opening the corpus") as watch:
            kept = learner.measure(corpus, folder, choice, recipe, watch)
    except KeyboardInterrupt:
        errors().print("\ninterrupted: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    rows = list(kept.rows())
    programs = {row.program for row in rows}
    failed = sum(bool(row.error) for row in rows)
    if json:
        print_json(
            {"path": str(kept.path), "outcomes": len(rows), "programs": len(programs),
             "failed": failed}
        )  # fmt: skip
        return
    said = f"{kept.path}: {len(rows):,} outcomes of {len(programs)} programs, {failed} failed"
    output().print(said, soft_wrap=True)


@policy.command()
def judge(
    corpus: Corpus,
    arm: Annotated[
        list[str] | None,
        typer.Option("--arm", help="A recipe that is judged; may be repeated [default: small]."),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--output", help="The folder of what was measured.")
    ] = Path("judged"),
    split: Splits = None,
    per_package: PerPackage = 0,
    most: Most = 0,
    json: Json = False,
) -> None:
    """Compare ways to compile with `-Oz` and with its link-time optimisation, on unseen programs.

    Without --split these are the programs of the split test, or all of a dataset that has no
    splits. Each is compiled, linked and stripped by each way. Means are geometric over packages,
    with 95 % intervals.
    """
    learner = _learner()
    choice = learner.Choice(tuple(split or _JUDGED_BY), per_package, most)
    arms = {name: learner.arm_named(name) for name in arm or ("small",)}
    try:
        with _watching("opening the corpus") as watch:
            verdicts = learner.judge(corpus, folder, choice, arms, watch)
    except KeyboardInterrupt:
        errors().print("\ninterrupted: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json({"verdicts": [asdict(verdict) for verdict in verdicts]})
    else:
        _print_verdicts(verdicts)


def _print_verdicts(verdicts: list[Any]) -> None:
    rows = table("Way", "Against", "Code", "Loaded", "Worst", "Larger", "Time", typed=("Way",))
    for one in verdicts:
        rows.add_row(
            one.arm, one.rival, _percent_of(one.code), _percent_of(one.loaded),
            f"{one.worst - 1:+.1%}", f"{one.clearly_larger} of {one.programs}",
            f"{one.seconds.mean:.2f}",
        )  # fmt: skip
    show(rows)
    first = verdicts[0]
    output().print(f"{first.programs} programs of {first.packages} packages")
    for name in sorted({name for one in verdicts for name in one.failed}):
        output().print(f"not linked: {name}", soft_wrap=True)


def _percent_of(ratio: Any) -> str:
    return f"{ratio.mean - 1:+.1%} [{ratio.low - 1:+.1%}, {ratio.high - 1:+.1%}]"


@contextmanager
def _watching(beginning: str) -> Generator[Callable[[int, int], None]]:
    """Show how many programs are done, on a terminal."""
    with errors().status(beginning) as status:

        def watch(done: int, total: int) -> None:
            status.update(f"{done} of {total} programs")

        yield watch


def _learner() -> Any:
    """Return the part of a compiler that learns, as a module."""
    from importlib import import_module

    from compiler_gym.registration import compilers

    return import_module(next(one.learner for one in compilers().values() if one.learner))
