# SPDX-License-Identifier: MIT
"""``compiler-gym policy``: measure what makes programs small, learn it, and judge it on others."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.options import CommandGroup, CompilerName
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.errors import UnknownNameError, unknown_name
from compiler_gym.lazy import part
from compiler_gym.tools.tune.commands.policies import policy_file, policy_named

__all__ = ["policy"]

policy = typer.Typer(
    name="policy",
    cls=CommandGroup,
    help="Learn what makes the linked programs of a corpus small, and judge it on others.",
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
    """Learn what makes the linked programs of a corpus small, and judge it on others."""


@policy.command()
def measure(
    corpus: Corpus,
    folder: Annotated[Path, typer.Option("--output", help="The folder of the outcomes.")],
    split: Splits = None,
    per_package: PerPackage = 4,
    most: Most = 60_000,
    recipe: Annotated[str, typer.Option(help="The recipe that is changed.")] = "small",
    compiler: CompilerName = None,
    json: Json = False,
) -> None:
    """Compile the programs of a corpus by a recipe and its variants, and keep what they weigh.

    Without --split these are the programs of the splits train and validation: whatever is chosen
    by what is measured must not be judged by it. Ctrl-C and a kill lose one measurement; the same
    command goes on.
    """
    learner = part("learners", compiler)
    choice = learner.CorpusChoice(tuple(split or _LEARNT_FROM), per_package, most)
    with _watching("opening the corpus") as watch:
        kept = learner.measure(corpus, folder, choice, recipe, watch)
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
        typer.Option(
            "--arm", help="A recipe or a policy that is judged; may be repeated [default: small]."
        ),
    ] = None,
    folder: Annotated[
        Path, typer.Option("--output", help="The folder of what was measured.")
    ] = Path("judged"),
    split: Splits = None,
    per_package: PerPackage = 0,
    most: Most = 0,
    compiler: CompilerName = None,
    json: Json = False,
) -> None:
    """Compare ways to compile with `-Oz` and with its link-time optimisation, on unseen programs.

    Without --split these are the programs of the split test, or all of a dataset that has no
    splits. Each is compiled, linked and stripped by each way. Means are geometric over packages,
    with 95 % intervals.
    """
    learner = part("learners", compiler)
    choice = learner.CorpusChoice(tuple(split or _JUDGED_BY), per_package, most)
    arms = {name: _arm(learner, name) for name in arm or ("small",)}
    with _watching("opening the corpus") as watch:
        verdicts = learner.judge(corpus, folder, choice, arms, watch)
    if json:
        print_json({"verdicts": [asdict(verdict) for verdict in verdicts]})
    else:
        _print_verdicts(verdicts)


def _arm(learner: Any, name: str) -> Any:
    policy = policy_file(name)
    return learner.arm_named(name) if policy is None else learner.by_policy(policy)


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


@policy.command()
def train(
    outcomes: Annotated[Path, typer.Argument(help="The file that `measure` has made.")],
    corpus: Corpus,
    path: Annotated[Path, typer.Option("--output", help="The file of the policy: NAME.json.")],
    recipe: Annotated[str, typer.Option(help="The recipe that plans are around.")] = "small",
    plans: Annotated[int, typer.Option(help="Among how many plans it chooses.", min=1)] = 3,
    seed: Annotated[int, typer.Option(help="Which packages are left out together.")] = 0,
    loss: Annotated[str, typer.Option(help="`regret` or `cross-entropy`.")] = "regret",
    compiler: CompilerName = None,
    json: Json = False,
) -> None:
    """Learn which plan a program is linked by, for `compiler-gym cc --policy NAME.json`.

    What is shown is loaded bytes against `clang -Oz -flto`, for programs of packages that the
    model had not seen. Equal outcomes and an equal seed make an equal file.
    """
    learner = part("learners", compiler)
    with errors().status("reading programs"):
        made = learner.train(
            outcomes, corpus, recipe=recipe, count=plans, seed=seed, loss=_loss(learner, loss)
        )
    learner.write_policy(made.policy, path)
    if json:
        worth = {name: asdict(one) for name, one in made.against_plain.items()}
        print_json({"path": str(path), "programs": dict(made.programs), "against_plain": worth})
        return
    rows = table("Chosen by", "Loaded", "From", "To", "Larger", "Worst", typed=("Chosen by",))
    for name, one in made.against_plain.items():
        shares = (one.mean, one.low, one.high)
        rows.add_row(
            name, *(f"{share:+.2f} %" for share in shares),
            f"{100 * one.larger:.0f} %", f"{one.worst:+.1f} %",
        )  # fmt: skip
    show(rows)


@policy.command(name="show")
def show_policy(
    name: Annotated[str, typer.Argument(help="A policy that is shipped, or a file NAME.json.")],
    compiler: CompilerName = None,
    json: Json = False,
) -> None:
    """Show among which plans a policy chooses, and how it was learnt."""
    found = part("learners", compiler).read_policy(policy_named(name))
    if json:
        plans = {plan.name: plan.decisions() for plan in found.plans}
        print_json({"recipe": found.recipe, "plans": plans, "known": dict(found.known)})
        return
    for plan in found.plans:
        output().print(heading(plan.name))
        for decision in plan.decisions():
            output().print(f"  {decision}", soft_wrap=True)
    for fact, value in found.known.items():
        output().print(f"{fact}: {value}", soft_wrap=True)


def _loss(learner: Any, named: str) -> Any:
    losses = {str(one): one for one in learner.Loss}
    if named not in losses:
        raise UnknownNameError(unknown_name("loss", named, losses))
    return losses[named]


@contextmanager
def _watching(beginning: str) -> Generator[Callable[[int, int], None]]:
    """Show how many programs are done, on a terminal; after Ctrl-C say how to go on, and end."""
    try:
        with errors().status(beginning) as status:

            def watch(done: int, total: int) -> None:
                status.update(f"{done} of {total} programs")

            yield watch
    except KeyboardInterrupt:
        errors().print("\ninterrupted: the same command goes on")
        raise typer.Exit(INTERRUPTED) from None
