# SPDX-License-Identifier: MIT
"""The reference page of the options of LLVM's code generator: what is offered, measured, found."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

__all__ = ["codegen_page"]

FOUND = Path(__file__).with_name("codegen_found.tsv")
"""What ``python -m scripts.codegen_search`` wrote."""


def codegen_page() -> str:
    """Return the page as Markdown."""
    return "\n".join([*_offered(), "", *_searched(), ""])


def _offered() -> Iterator[str]:
    text = files("compiler_gym.envs.llvm").joinpath("codegen.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines()[1:] if line and line[0] != "#"]
    count = sum(len(row[1].split("|")) for row in rows)
    yield "# Options of LLVM's code generator"
    yield ""
    yield f"{len(rows)} options with {count} values beside their defaults, in the order of the"
    yield "action space `Codegen`. [The guide](../guide/codegen.md) says how to use them."
    yield "Percentages: the change of the text of 16 bundled programs after -Oz, one value at a"
    yield "time (all but ghostscript, jpeg-d, lame and the four of tiff): their mean, the least and"
    yield "the most. Below zero is smaller."
    yield "*Number* is the option's place in `Codegen`, the same for all its values."
    yield "*Tier* is `core` for an option of which some value made some program smaller, and `rare`"
    yield "for the others."
    yield ""
    yield "| number | option | value | tier | mean | least | most | what it does |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- |"
    for number, (name, values, tier, mean, least, most, description) in enumerate(rows):
        columns = (column.split("|") for column in (values, mean, least, most))
        for value, *effect in zip(*columns, strict=True):
            percents = " | ".join(f"{percent} %" for percent in effect)
            cells = (str(number), f"`{name}`", f"`{value}`", tier, percents)
            yield f"| {' | '.join(cells)} | {description}: {value} |"


def _searched() -> Iterator[str]:
    if not FOUND.exists():
        return
    note, heading, *rows = FOUND.read_text(encoding="utf-8").splitlines()
    yield "## Searched"
    yield ""
    yield note.removeprefix("# ")
    yield ""
    for at, line in enumerate([heading, *rows]):
        cells = line.split("\t")
        yield f"| {' | '.join(cells)} |"
        if at == 0:
            yield f"|{' --- |' * len(cells)}"
