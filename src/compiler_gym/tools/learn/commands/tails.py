# SPDX-License-Identifier: MIT
"""``compiler-gym tails``: learn tails from a corpus, and use them on a module."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.groups import CommandGroup
from compiler_gym.cli.kit.options import spread
from compiler_gym.cli.kit.output import Json, errors, output, print_json, show, table
from compiler_gym.cli.kit.programs import ProgramName, find_program
from compiler_gym.errors import CacheError, CompilerFatalError
from compiler_gym.tools.learn.tails import TailGoal, TailOptions

if TYPE_CHECKING:
    from compiler_gym.statistics import Interval
    from compiler_gym.tools.learn.tails import JudgedWay

tails = typer.Typer(
    name="tails",
    cls=CommandGroup,
    help="Choose passes for each function after -Oz with a model that learned from programs.",
    no_args_is_help=True,
)
_DEFAULTS = TailOptions()


@tails.callback()
def groups() -> None:
    """Choose passes for each function after -Oz with a model that learned from programs."""


@tails.command()
@spread
def learn(
    corpus: Annotated[Path, typer.Argument(help="Folder of `compiler-gym datasets build`.")],
    folder: Annotated[Path, typer.Option("--output", help="Folder of the run.")],
    options: TailOptions = _DEFAULTS,
    judge: Annotated[
        bool, typer.Option("--judge", help="Judge on the test packages: do this once.")
    ] = False,
    json: Json = False,
) -> None:
    """Search for tails, label functions, fit a model, and compare it with simpler ways.

    Without --judge it is compared on the validation packages. The same command continues an
    interrupted run.
    """
    from compiler_gym.tools.learn.tails import TailRun

    with _interruptible():
        run = TailRun(folder, corpus, options, _ignore if json else _report)
        ways = run.judge("test" if judge else "validation")
    if json:
        print_json([asdict(way) for way in ways])
    else:
        _show(ways)


@tails.command("table")
@spread
def write_table(
    corpus: Annotated[Path, typer.Argument(help="Folder of `compiler-gym datasets build`.")],
    folder: Annotated[Path, typer.Option("--output", help="Folder of a run, new or of `learn`.")],
    options: TailOptions = _DEFAULTS,
) -> None:
    """Write functions and the results of tails on them, in instructions and bytes, as Parquet.

    The file and its card are in the folder `table` of the run. The same command continues an
    interrupted run.
    """
    from compiler_gym.tools.learn.tails import TailRun

    with _interruptible():
        written = TailRun(folder, corpus, options, _report).table().save(folder / "table")
    output().print(f"{written}: {written.stat().st_size:,} bytes", soft_wrap=True)


@tails.command()
def apply(
    program: ProgramName,
    target: Annotated[Path, typer.Option("--output", "-o", help="File to write, as bitcode.")],
    tries: Annotated[int, typer.Option(help="Tails to try on each function.", min=1)] = 8,
    goal: Annotated[
        TailGoal, typer.Option(help="Unit of savings of the included model.")
    ] = TailGoal.INSTRUCTIONS,
    model: Annotated[
        Path | None, typer.Option(help="Model of `tails learn`, which knows its unit of savings.")
    ] = None,
    json: Json = False,
) -> None:
    """Run the passes of clang -Oz, then on each function the best of a few tails.

    No pass may have changed a program of bitcode or IR before: let clang write it with
    `-Oz -Xclang -disable-llvm-passes`. The result never has more instructions than with clang -Oz,
    or, with `--goal bytes`, never more bytes in functions: code, unwind entries and tables.
    """
    from compiler_gym.files import write_whole
    from compiler_gym.registration import make
    from compiler_gym.tools.learn.tails import MODELS, improve

    with make("llvm-v0") as env:
        env.reset(benchmark=find_program(env, program))
        module = bytes(env.observation["Bitcode"])
    improved = improve(module, model or MODELS[goal], tries)
    if improved is None:
        raise CompilerFatalError(f"the compiler failed on {program}: use `clang -Oz` instead")
    try:
        write_whole(target, improved.bitcode)
    except OSError as error:
        raise CacheError(f"cannot write {target}: {error.strerror}") from error
    if json:
        print_json({"before": improved.before, "after": improved.after})
    else:
        output().print(
            f"{program}: {improved.before:,} {improved.goal} after clang -Oz, "
            f"{improved.after:,} with tails",
            soft_wrap=True,
        )


@contextmanager
def _interruptible() -> Generator[None]:
    try:
        yield
    except KeyboardInterrupt:
        errors().print("interrupted; continue with the same command")
        raise typer.Exit(INTERRUPTED) from None


def _report(line: str) -> None:
    errors().print(line, soft_wrap=True)


def _ignore(line: str) -> None:
    """Print nothing but JSON."""


def _show(ways: "list[JudgedWay]") -> None:
    rows = table("Order", "Tails", "Pooled", "Modules", "Packages", "Ahead", "Over constant")
    for way in ways:
        saved = way.saved
        means = (saved.pooled, saved.modules, saved.packages)
        ahead = f"{100 * saved.ahead:.0f} %"
        rows.add_row(
            way.way,
            str(way.tries),
            *map(_percent, means),
            ahead,
            _percent(way.over_constant.pooled),
        )
    show(rows)


def _percent(share: "Interval") -> str:
    return f"{100 * share.mean:.2f} [{100 * share.low:.2f}, {100 * share.high:.2f}]"
