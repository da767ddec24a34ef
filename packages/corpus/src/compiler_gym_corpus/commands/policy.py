# SPDX-License-Identifier: MIT
"""``compiler-gym policy``: measure recipes, choose a policy, and judge it on other programs."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.groups import CommandGroup
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import policy_named

if TYPE_CHECKING:
    from compiler_gym.statistics import Interval
    from compiler_gym_corpus.llvm.learning import Judgement

policy = typer.Typer(
    name="policy",
    cls=CommandGroup,
    help="Train a policy that makes linked programs small, and evaluate it on others.",
    context_settings={"help_option_names": ["-h", "--help"]},
    no_args_is_help=True,
)

Corpus = Annotated[
    str,
    typer.Argument(help="A dataset, a corpus file, or a folder of built packages."),
]
Splits = Annotated[
    list[str] | None, typer.Option("--split", help="Use programs of this split; can be repeated.")
]
PerPackage = Annotated[
    int, typer.Option(help="Maximum number of programs per package; 0 for all.", min=0)
]
Most = Annotated[
    int,
    typer.Option("--most", help="Skip programs with more instructions; 0 for none.", min=0),
]
_LEARNT_FROM = ("train", "validation")
_JUDGED_BY = ("test", "")


@policy.callback()
def groups() -> None:
    """Train a policy that makes linked programs small, and evaluate it on others."""


@policy.command()
def measure(
    corpus: Corpus,
    folder: Annotated[Path, typer.Option("--output", help="Folder for the measurements.")],
    split: Splits = None,
    per_package: PerPackage = 4,
    most: Most = 60_000,
    recipe: Annotated[str, typer.Option(help="Recipe to vary.")] = "small",
    json: Json = False,
) -> None:
    """Compile the programs of a corpus with variants of a recipe, and record their sizes.

    Without --split it uses the splits train and validation, so that the test split stays
    unseen. Ctrl-C or a kill loses one measurement; the same command continues.
    """
    from compiler_gym_corpus.llvm import learning

    choice = learning.CorpusChoice(tuple(split or _LEARNT_FROM), per_package, most)
    with _watching("opening the corpus") as watch:
        measurements = learning.measure(corpus, folder, choice, recipe, watch)
    rows = list(measurements.rows())
    programs = {row.program for row in rows}
    failed = sum(bool(row.error) for row in rows)
    if json:
        print_json(
            {"path": str(measurements.path), "outcomes": len(rows), "programs": len(programs),
             "failed": failed}
        )  # fmt: skip
        return
    text = (
        f"{measurements.path}: {len(rows):,} outcomes of {len(programs)} programs, {failed} failed"
    )
    output().print(text, soft_wrap=True)


@policy.command()
def judge(
    corpus: Corpus,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm", help="Recipe or policy to evaluate; can be repeated [default: small]."
        ),
    ] = None,
    folder: Annotated[Path, typer.Option("--output", help="Folder for the measurements.")] = Path(
        "judged"
    ),
    split: Splits = None,
    per_package: PerPackage = 0,
    most: Most = 0,
    json: Json = False,
) -> None:
    """Compare builds with `-Oz` and `-Oz -flto` on held-out programs.

    Without --split it uses the split test, or all programs of a dataset without splits. Each
    build is linked and stripped. Means over packages are geometric, with 95 % intervals.
    """
    from compiler_gym_corpus.llvm import learning

    choice = learning.CorpusChoice(tuple(split or _JUDGED_BY), per_package, most)
    arms = {name: learning.arm_named(name) for name in arm or ("small",)}
    with _watching("opening the corpus") as watch:
        verdicts = learning.judge(corpus, folder, choice, arms, watch)
    if json:
        print_json({"verdicts": [asdict(verdict) for verdict in verdicts]})
    else:
        _print_verdicts(verdicts)


def _print_verdicts(verdicts: "list[Judgement]") -> None:
    rows = table("Build", "Against", "Code", "Loaded", "Worst", "Larger", "Time", typed=("Build",))
    for v in verdicts:
        rows.add_row(
            v.arm, v.rival, _format_percent(v.code), _format_percent(v.loaded),
            f"{v.worst - 1:+.1%}", f"{v.clearly_larger} of {v.programs}",
            f"{v.seconds.mean:.2f}",
        )  # fmt: skip
    show(rows)
    first = verdicts[0]
    output().print(f"{first.programs} programs of {first.packages} packages")
    for name in sorted({name for v in verdicts for name in v.failed}):
        output().print(f"not linked: {name}", soft_wrap=True)


def _format_percent(ratio: "Interval") -> str:
    return f"{ratio.mean - 1:+.1%} [{ratio.low - 1:+.1%}, {ratio.high - 1:+.1%}]"


@policy.command()
def train(
    outcomes: Annotated[Path, typer.Argument(help="File written by `measure`.")],
    corpus: Corpus,
    path: Annotated[Path, typer.Option("--output", help="File for the policy: NAME.toml.")],
    recipe: Annotated[str, typer.Option(help="Recipe that the plans vary.")] = "small",
    seed: Annotated[int, typer.Option(help="Seed for the confidence intervals.")] = 0,
    json: Json = False,
) -> None:
    """Choose the plan that saves most over all training programs, for `cc --policy NAME.toml`.

    Prints loaded bytes relative to `clang -Oz -flto`, also for the validation split, which decides
    nothing. The same measurements and seed produce the same file.
    """
    from compiler_gym_corpus.llvm import learning

    if path.suffix != ".toml":
        raise InvalidParameterError(f"--output must end with .toml (got {path})")
    with errors().status("reading programs"):
        result = learning.train(outcomes, corpus, path, recipe=recipe, seed=seed)
    result.policy.write()
    if json:
        worth = {name: asdict(row) for name, row in result.against_plain.items()}
        print_json({"path": str(path), "programs": dict(result.programs), "against_plain": worth})
        return
    rows = table("Chosen by", "Loaded", "From", "To", "Larger", "Worst", typed=("Chosen by",))
    for name, row in result.against_plain.items():
        numbers = (row.mean, row.low, row.high)
        rows.add_row(
            name, *(f"{share:+.2f} %" for share in numbers),
            f"{100 * row.larger:.0f} %", f"{row.worst:+.1f} %",
        )  # fmt: skip
    show(rows)


@policy.command(name="show")
def show_policy(
    name: Annotated[str, typer.Argument(help="Shipped policy, or a file NAME.toml.")],
    json: Json = False,
) -> None:
    """Show the decisions of a policy, and how it was trained."""
    chosen = policy_named(name)
    decisions, known = chosen.plan.decisions(), chosen.known
    if json:
        print_json({"name": chosen.name, "decisions": decisions, "about": known.about,
                    "found_by": known.found_by, "measured": dict(known.measured)})  # fmt: skip
        return
    output().print(heading(chosen.name), known.about, soft_wrap=True)
    for decision in decisions:
        output().print(f"  {decision}", soft_wrap=True)
    for fact, value in known.measured.items():
        output().print(f"{fact}: {value}", soft_wrap=True)


@contextmanager
def _watching(beginning: str) -> Generator[Callable[[int, int], None]]:
    """Show the number of finished programs; after Ctrl-C print how to continue, and exit."""
    try:
        with errors().status(beginning) as status:

            def watch(done: int, total: int) -> None:
                status.update(f"{done} of {total} programs")

            yield watch
    except KeyboardInterrupt:
        errors().print("\ninterrupted: the same command continues")
        raise typer.Exit(INTERRUPTED) from None
