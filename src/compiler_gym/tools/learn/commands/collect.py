# SPDX-License-Identifier: MIT
"""``compiler-gym collect``."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.failures import INTERRUPTED
from compiler_gym.cli.kit.options import LimitOptions, spread
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.cli.kit.programs import find_program
from compiler_gym.options import CollectOptions

if TYPE_CHECKING:
    from compiler_gym.tools.learn.collection import CollectionProgress, CollectionSummary

DIFFERS = 1
"""The exit status when an episode cannot be replayed."""
_DEFAULTS = CollectOptions()


@spread
def collect(
    folder: Annotated[Path, typer.Option("--output", help="Output folder.")],
    env: Annotated[
        str | None,
        typer.Argument(help="Environment; leave it out with --resume."),
    ] = None,
    options: CollectOptions = _DEFAULTS,
    resume: Annotated[
        bool, typer.Option("--resume", help="Resume the collection in the folder.")
    ] = False,
    verify: Annotated[
        int, typer.Option(help="Number of episodes to replay and compare afterwards.", min=0)
    ] = 0,
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Collect transitions into a folder of Parquet files, for learning without a compiler.

    The same options produce the same files, with any number of processes and interruptions.
    Ctrl-C or a kill loses only unfinished shards; --resume continues. Exits with status 1 if
    --verify finds an episode that cannot be replayed.
    """
    from compiler_gym.tools.learn.collection import Collection
    from compiler_gym.tools.learn.collection import collect as collect_into

    if env is None:
        before = Collection(folder).options
        options = replace(before, jobs=options.jobs or before.jobs, ray=options.ray)
    else:
        names = tuple(_make_addresses(env, options.benchmarks))
        options = replace(options, env=env, benchmarks=names)
    if limits is not None:
        options = replace(options, limits=limits)
    line = _ProgressLine(is_quiet=json)
    try:
        summary = collect_into(folder, options, resume=resume, watch=line.show)
    except KeyboardInterrupt:
        line.close()
        errors().print(
            f"\ninterrupted; resume with `compiler-gym collect --resume --output {folder}`",
            soft_wrap=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        line.close()
    differences = Collection(folder).verify(verify) if verify else []
    if json:
        comparison = {"differences": list(map(str, differences))} if verify else {}
        print_json({"output": str(folder), **summary.to_json(), **comparison})
    else:
        _show_collection(folder, summary)
        for difference in differences:
            output().print(str(difference), soft_wrap=True)
        if verify:
            output().print(f"replayed {verify} episodes: {len(differences)} differ")
    if differences:
        raise typer.Exit(DIFFERS)


def _make_addresses(env: str, names: "tuple[str, ...] | Any") -> "list[str]":
    """Return `names` with paths of programs replaced by addresses."""
    from compiler_gym.registration import make

    with make(env) as environment:
        return [
            str(find_program(environment, name).uri)
            if "://" not in name and Path(name.partition("?")[0]).is_file()
            else name
            for name in names
        ]


class _ProgressLine:
    """A line of progress on standard error, if that is a terminal."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._status = None
        if errors().is_terminal and not is_quiet:
            self._status = errors().status("starting")
            self._status.start()

    def show(self, progress: "CollectionProgress") -> None:
        if self._status is None:
            return
        rate = progress.steps_now / max(progress.seconds, 0.1)
        remaining = (progress.steps_in_all - progress.steps) / rate if rate else 0.0
        self._status.update(
            f"{progress.steps:,} of {progress.steps_in_all:,} steps   {rate:,.0f} steps/s   "
            f"{remaining / 60:,.0f} min left"
        )

    def close(self) -> None:
        if self._status is not None:
            self._status.stop()


def _show_collection(folder: Path, summary: "CollectionSummary") -> None:
    console = output()
    bytes_each = summary.bytes / max(summary.transitions, 1)
    console.print(heading(str(folder)), soft_wrap=True)
    rows = table("Transitions", "Episodes", "Shards", "Size", "Average", right=("Transitions",))
    rows.add_row(
        f"{summary.transitions:,}",
        f"{summary.episodes:,}",
        f"{summary.shards} of {summary.shards_in_all}",
        f"{summary.bytes / 1e6:,.1f} MB",
        f"{bytes_each:,.0f} bytes",
    )
    show(rows, console)
    failed = sum(summary.failures.values())
    if not failed:
        console.print("no step failed")
        return
    share = failed / (failed + summary.transitions)
    rows = table("Failed steps", "Error", right=("Failed steps",), typed=("Error",))
    for kind, count in summary.failures.items():
        rows.add_row(f"{count:,}", kind)
    rows.add_row(f"{failed:,}", f"total, {share:.2%} of steps")
    show(rows, console)
