# SPDX-License-Identifier: MIT
"""``compiler-gym size``: show where the bytes of a program are."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.output import (
    Json,
    errors,
    heading,
    output,
    print_json,
    show,
    style_text,
    table,
)
from compiler_gym.tools.sizes import Grouping

if TYPE_CHECKING:
    from rich.table import Table

    from compiler_gym.tools.sizes import Owner, SizeChange, SizeReport

__all__ = ["OVER_BUDGET", "size"]

OVER_BUDGET = 1
"""The exit status if a file has more loaded bytes than its budget."""
_LONGEST_NAME = 160
"""Longer names, which templates have, are shortened in tables; JSON has them whole."""
_LEAST_SHARE = 0.001
"""Remedies that save less of the file are only in the JSON."""
_FLAGS_WIDTH = 32


def size(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="Executable, library, object or archive (ELF).")
    ],
    before: Annotated[
        Path | None, typer.Argument(metavar="BEFORE", help="An earlier build, to compare with.")
    ] = None,
    by: Annotated[
        Grouping | None,
        typer.Option(help="Owners to list [default: function; for archives: member]."),
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Number of owners to list.")] = 10,
    link_map: Annotated[
        Path | None,
        typer.Option("--map", help="Map that the linker wrote (-Wl,-Map=FILE), for `--by file`."),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="Limit for the loaded bytes, such as 200kB.")
    ] = None,
    json: Json = False,
) -> None:
    """Show where the bytes of a program are, and what would make it smaller.

    Loaded bytes are those that are read into memory. The parts add up to the file. With BEFORE,
    the differences are shown instead of remedies.

    Exit status: 0, or 1 if the file has more loaded bytes than --budget, or 2 if a file cannot
    be read.

    compiler-gym size build/program old/program --budget 200kB
    """
    from compiler_gym.tools.sizes import measure_file, parse_size

    limit = None if budget is None else parse_size(budget)
    report = measure_file(file, link_map)
    earlier = None if before is None else measure_file(before)
    by = by or (Grouping.FILE if link_map else report.grouping)
    is_over = limit is not None and report.loaded > limit
    if json:
        document = report.to_json()
        document["before"] = None if earlier is None else earlier.to_json()
        document["budget"] = limit
        print_json(document)
    elif earlier is None:
        _show(report, by, most)
    else:
        _show_changes(report, earlier, by, most)
    for note in dict.fromkeys([*report.notes, *(earlier.notes if earlier else ())]):
        errors().print(note, soft_wrap=True)
    if limit is not None:
        _print_verdict(report, earlier, limit, by)
    if is_over:
        raise typer.Exit(OVER_BUDGET)


def _show(report: "SizeReport", by: Grouping, most: int) -> None:
    output().print(
        heading(str(report.path), f": {report.description}, {report.total:,} bytes"), soft_wrap=True
    )
    rows = table("Part", "Loaded", "%", "In the file", right=("Loaded", "%", "In the file"))
    for part, part_size in report.parts.items():
        share = _percent(part_size.loaded, report.loaded)
        rows.add_row(part.value, _number(part_size.loaded), share, _number(part_size.total))
    rows.add_section()
    rows.add_row("total", _number(report.loaded), "", _number(report.total), style="bold")
    show(rows)
    _show_owners(report, by, most)
    _show_remedies(report)


def _show_owners(report: "SizeReport", by: Grouping, most: int) -> None:
    owners = report.owners[by]
    has_unwind = any(owner.unwind for owner in owners)
    columns = ["Loaded", "%", *(["Unwinding"] if has_unwind else [])]
    name = by.value.capitalize()
    rows = table(*columns, name, right=columns, typed=(name,), title=_title(by))
    shown = owners[:most]
    for owner in shown:
        _add_owner(rows, owner, report.loaded, has_unwind=has_unwind)
    if not owners:
        output().print(_explain_missing(by), soft_wrap=True)
        return
    if len(owners) > len(shown):
        rest = sum(owner.loaded for owner in owners[most:])
        share = _percent(rest, report.loaded)
        name = f"[{len(owners) - most:,} others]"
        rows.add_row(_number(rest), share, *([""] if has_unwind else []), name, style="dim")
    show(rows)


def _add_owner(rows: "Table", owner: "Owner", loaded: int, *, has_unwind: bool) -> None:
    unwind = [_number(owner.unwind)] if has_unwind else []
    share = _percent(owner.loaded, loaded)
    rows.add_row(_number(owner.loaded), share, *unwind, _shorten(owner.name))


def _title(by: Grouping) -> str:
    return {
        Grouping.FUNCTION: "Largest functions and variables",
        Grouping.NAMESPACE: "Crates, namespaces and packages",
        Grouping.FILE: "Sources, objects and archive members",
        Grouping.SECTION: "Sections",
        Grouping.MEMBER: "Members",
    }[by]


def _explain_missing(by: Grouping) -> str:
    if by is Grouping.FILE:
        return "No sources are known: compile with -g, or pass a linker map with --map."
    if by is Grouping.MEMBER:
        return "This is not an archive: pass a linker map with --map, and --by file."
    return "No functions are known: no symbol has a size."


def _show_remedies(report: "SizeReport") -> None:
    shown = [row for row in report.suggestions if row.saving.total > _LEAST_SHARE * report.total]
    if not shown:
        return
    rows = table(
        "Saves", "%", "Remedy", "Price",
        right=("Saves", "%"), typed=("Remedy",), title="Remedies that would help",
    )  # fmt: skip
    for suggestion in shown:
        remedy, saving = suggestion.remedy, suggestion.saving
        share = _percent(saving.loaded, report.loaded) if saving.loaded else "file"
        about = "" if remedy.is_exact else "~"
        flags = "\n".join(wrap(remedy.flags, _FLAGS_WIDTH, break_on_hyphens=False))
        name = style_text(remedy.name, "bold").append(f"\n{flags}", style="not bold")
        rows.add_row(f"{about}{saving.loaded or saving.total:,}", share, name, remedy.price)
    show(rows)
    output().print(
        "~: estimated. Savings overlap: do not add them up. file: these bytes are not loaded.",
        soft_wrap=True,
    )


def _show_changes(report: "SizeReport", before: "SizeReport", by: Grouping, most: int) -> None:
    from compiler_gym.tools.sizes import Part, PartSize, SizeChange, compare_owners

    output().print(
        heading(str(report.path), f": {report.description}, compared with {before.path}"),
        soft_wrap=True,
    )
    parts = [
        SizeChange(
            part.value,
            before.parts.get(part, PartSize()).loaded,
            report.parts.get(part, PartSize()).loaded,
        )
        for part in Part
    ]
    total = SizeChange("total", before.loaded, report.loaded)
    file = SizeChange("in the file", before.total, report.total)
    changes = [change for change in parts if change.before or change.after]
    _show_change_rows("Part", [*changes, total, file])
    owners = compare_owners(before.owners[by], report.owners[by])
    if not owners:
        output().print(f"No {by.value} changed its size." if report.owners[by] else
                       _explain_missing(by), soft_wrap=True)  # fmt: skip
        return
    _show_change_rows(by.value.capitalize(), owners[:most], title=_title(by))
    if len(owners) > most:
        growth = sum(change.growth for change in owners[most:])
        output().print(f"{len(owners) - most:,} others: {growth:+,}")


def _show_change_rows(name: str, changes: Sequence["SizeChange"], title: str | None = None) -> None:
    columns = ("Change", "Before", "Now")
    rows = table(*columns, name, right=columns, typed=(name,), title=title)
    for change in changes:
        colour = "yellow" if change.growth > 0 else "green" if change.growth < 0 else ""
        growth = style_text(f"{change.growth:+,}" if change.growth else "", colour)
        rows.add_row(growth, f"{change.before:,}", f"{change.after:,}", _shorten(change.name))
    show(rows)


def _print_verdict(
    report: "SizeReport", before: "SizeReport | None", limit: int, by: Grouping
) -> None:
    from compiler_gym.tools.sizes import compare_owners

    loaded, over = f"{report.path}: {report.loaded:,} loaded bytes", report.loaded - limit
    console = errors()
    if over <= 0:
        console.print(f"{loaded}, {-over:,} below the budget of {limit:,}", soft_wrap=True)
        return
    console.print(f"{loaded}, {over:,} over the budget of {limit:,}", style="red", soft_wrap=True)
    if before is None:
        console.print("To see what grew, pass the last build within the budget too.")
        return
    grown = [c for c in compare_owners(before.owners[by], report.owners[by]) if c.growth > 0]
    for change in grown[:5]:
        console.print(f"  {change.growth:+,} {_shorten(change.name)}", soft_wrap=True)


def _shorten(name: str) -> str:
    if len(name) <= _LONGEST_NAME:
        return name
    half = _LONGEST_NAME // 2 - 3
    return f"{name[:half]} ... {name[-half:]}"


def _number(count: int) -> str:
    return f"{count:,}" if count else ""


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f}" if total and count else ""
