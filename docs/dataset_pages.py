# SPDX-License-Identifier: MIT
"""One page per dataset, from its class and from what was measured of its programs."""

from collections.abc import Iterable, Iterator
from itertools import islice

from compiler_gym.datasets import Dataset
from docs.characterise import MOST_PROGRAMS, read, slug, summary

SHOWN = 4


def dataset_pages(datasets: Iterable[tuple[str, Dataset]]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every page; `datasets` come with who reads them."""
    readers: dict[str, list[str]] = {}
    found: dict[str, Dataset] = {}
    for reader, dataset in datasets:
        readers.setdefault(dataset.name, []).append(reader)
        found[dataset.name] = dataset
    for name, dataset in found.items():
        yield f"datasets/{slug(name)}.md", _page(dataset, readers[name])


def _page(dataset: Dataset, readers: list[str]) -> str:
    parts = [
        [f"# `{dataset.name}`"],
        [f"{dataset.description}."],
        _facts(dataset, readers),
        _explanation(dataset),
        _addresses(dataset),
        _character(dataset),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _facts(dataset: Dataset, readers: list[str]) -> list[str]:
    rows = {
        "Programs": f"{dataset.size:,}" if dataset.size else "no end",
        "Licence": dataset.license,
        "Needs": dataset.needs or "nothing",
        "Validatable": dataset.validatable,
        "Read by": ", ".join(readers),
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
