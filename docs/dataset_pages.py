# SPDX-License-Identifier: MIT
"""One page per dataset, from its class and from what was measured of its programs."""

from collections.abc import Iterable, Iterator
from itertools import islice

from compiler_gym.datasets import Dataset
from docs.characterise import MOST_PROGRAMS, read, slug, summary

SHOWN = 4


def dataset_pages(datasets: Iterable[tuple[str, Dataset]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every page; `datasets` come with who reads them."""
    readers: dict[str, dict[str, Dataset]] = {}
    for reader, dataset in datasets:
        readers.setdefault(dataset.name, {})[reader] = dataset
    slugs = [slug(name) for name in readers]
    assert len(set(slugs)) == len(slugs), "two datasets would share a page"
    for name, read_by in readers.items():
        yield f"datasets/{slug(name)}.md", _page(read_by)


def _page(read_by: dict[str, Dataset]) -> str:
    dataset = list(read_by.values())[-1]
    parts = [
        [f"# `{dataset.name}`"],
        _descriptions(read_by),
        _facts(read_by),
        _explanation(dataset),
        _addresses(dataset),
        _character(dataset),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _descriptions(read_by: dict[str, Dataset]) -> list[str]:
    """Return what the dataset is, or what it is to each environment where they differ."""
    said = {one.description for one in read_by.values()}
    if len(said) == 1:
        return [f"{said.pop()}."]
    return [f"- {reader}: {one.description}." for reader, one in read_by.items()]


def _facts(read_by: dict[str, Dataset]) -> list[str]:
    dataset = list(read_by.values())[-1]
    rows = {
        "Programs": f"{dataset.size:,}" if dataset.size else "no end",
        "Licence": dataset.license,
        "Needs": dataset.needs or "nothing",
        "Validatable": dataset.validatable,
        "Read by": ", ".join(read_by),
        **{what: f"<{address}>" for what, address in dataset.references.items()},
    }
    return ["| | |", "| --- | --- |", *(f"| {key} | {text} |" for key, text in rows.items())]


def _explanation(dataset: Dataset) -> list[str]:
    """Return what the class says of itself after its first line, less its examples."""
    paragraphs = (type(dataset).__doc__ or "").split("\n\n")[1:]
    told = [" ".join(text.split()).replace("``", "`") for text in paragraphs]
    return "\n\n".join(text for text in told if text and ">>>" not in text).splitlines()


def _addresses(dataset: Dataset) -> list[str]:
    if dataset.hidden:
        return []
    if not dataset.installed:
        return [f"Fetch it with `compiler-gym datasets install {_plain(dataset)}`."]
    shown = [f"`{uri}`" for uri in islice(dataset.benchmark_uris(), SHOWN)]
    return [f"Its programs are {', '.join(shown)}, ..."]


def _plain(dataset: Dataset) -> str:
    return dataset.name.removeprefix("benchmark://")


def _character(dataset: Dataset) -> list[str]:
    measured = read(dataset.name)
    if dataset.hidden:
        return []
    if not measured:
        if dataset.installed:  # made here, and no programs of LLVM's
            return []
        return [
            "## What the programs are like",
            "",
            "Not measured: the archive cannot be reached from where this page was made, and "
            "nothing is drawn that was not measured. "
            f"Once it is installed, `python -m docs.characterise {_plain(dataset)}` writes the "
            f"table and the plot of {MOST_PROGRAMS} of its programs beside this page, "
            "and `python -m docs.generate` shows them here.",
        ]
    rows = [f"| {' | '.join(row)} |" for row in summary(measured)]
    return [
        "## What the programs are like",
        "",
        f"![Sizes and shares of instructions]({slug(dataset.name)}.svg)",
        "",
        f"Measured on {len(measured)} programs as they are read, before any pass "
        f"([table]({slug(dataset.name)}.tsv), `python -m docs.characterise`). "
        "The shares are of all instructions: branches, switches and invokes; loads, stores, "
        "allocations and address computations; integer, floating-point and bitwise arithmetic.",
        "",
        "| figure | least | median | most |",
        "| --- | ---: | ---: | ---: |",
        *rows,
    ]
