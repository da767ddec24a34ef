# SPDX-License-Identifier: MIT
"""The card of an exported dataset: what is in it, for people and for the library ``datasets``."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compiler_gym.datasets.corpus_store import PackageFacts
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.splits import NO_SPLIT, SMALLEST
from compiler_gym.version import __version__

__all__ = ["ExportedSplit", "write_card"]

_SIZES = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 1_000_000))
_MOST_LICENCES = 30
_COLUMNS = (
    ("key", "name of the program: the dataset's name, a slash and this are its address"),
    ("content", "the program itself, in the format that `suffix` is usual for"),
    ("sha256", "digest of `content`"),
    ("license_expression", "licence, as `debian/copyright` says of the file or of its package"),
    ("license_source, package_source", "package and version"),
    ("language", "`c` or `c++`; empty for what was linked"),
    ("package, version, source_sha256", "source package, and the digest of its description"),
    ("file, command", "source, and the words that compiled it (JSON), without paths of a machine"),
    ("kinds", "JSON list of `module`, `program` (linked) and `library` (shared)"),
    ("split, cluster", "as below"),
    ("instructions, functions", "how many there are before any pass; functions with a body"),
    ("programs", "JSON list of the keys of the linked programs that it belongs to"),
    ("places", "JSON list of package, version and file, one for each place with these bytes"),
)


@dataclass(frozen=True, slots=True)
class ExportedSplit:
    """One file of an export."""

    name: str
    licences: "Counter[str]"
    """How many programs have each licence."""

    @property
    def count(self) -> int:
        """Number of programs that it holds."""
        return sum(self.licences.values())


def write_card(
    dataset: Dataset, parts: Sequence[ExportedSplit], packages: Sequence[PackageFacts]
) -> str:
    """Return the text of ``README.md`` beside the files of `parts`."""
    total = sum(part.count for part in parts)
    size = next((name for name, most in _SIZES if total < most), "n>1M")
    name = dataset.name.partition("://")[2]
    files = "".join(
        f"  - split: {part.name}\n    path: {part.name}.parquet\n" for part in parts if part.count
    )
    header = (
        "---\nlicense: other\nlicense_name: of-each-program\n"
        f"pretty_name: {json.dumps(name)}\ntags:\n- compilers\n- code\n"
        f"size_categories:\n- {size}\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n"
    )
    rows = [f"| `{part.name}` | {part.count:,} |" for part in parts]
    text = [
        f"# {name}",
        f"{dataset.description}: {total:,} programs.",
        f"Written by compiler_gym {__version__}; `compiler-gym datasets import` reads each file.",
        "\n".join(["| split | programs |", "| --- | ---: |", *rows]),
        *(_about_splits() if packages else []),
        _licences(parts),
        *(_packages(packages) if packages else []),
        "## Columns",
        "\n".join(f"- `{names}`: {text}." for names, text in _COLUMNS[: None if packages else 6]),
    ]
    return header + "\n" + "\n\n".join(text) + "\n"


def _about_splits() -> list[str]:
    return [
        "## Splits and clusters",
        "A package is of one split, by the digest of its name, for ever.\n"
        f"A program of it is in `{NO_SPLIT}`, and so in none, if a function of it, or the program "
        "as a whole, is a near duplicate of one in a package of a split that comes before its own "
        "(test, validation, train).\n"
        "Functions are near duplicates if they are the same but for names and constants; those of "
        f"fewer than {SMALLEST} instructions, and those of the standard library of C++, are not "
        "compared.\n"
        "Programs with the same `cluster` have the same functions but for names and constants.",
    ]


def _licences(parts: Sequence[ExportedSplit]) -> str:
    counted = sum((part.licences for part in parts), Counter[str]())
    rows = [
        f"| {name.replace('|', '/') or 'not stated'} | {count:,} |"
        for name, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    ]
    rest = len(rows) - _MOST_LICENCES
    more = [f"\n{rest} more are in the column `license_expression`."] if rest > 0 else []
    head = ["## Licences", "", "| licence | programs |", "| --- | ---: |"]
    return "\n".join([*head, *rows[:_MOST_LICENCES], *more])


def _packages(packages: Sequence[PackageFacts]) -> list[str]:
    rows = [f"| {one.name} | {one.version} | {one.license} | {one.split} |" for one in packages]
    head = ["| package | version | licence | split |", "| --- | --- | --- | --- |"]
    compilers = " / ".join(sorted({f"{one.compiler}, {one.level}" for one in packages}))
    made = f"; made by {compilers}" if compilers.strip(", ") else ""
    return [
        "## Packages",
        f"The modules are unoptimised: no pass was run on them{made}.",
        "\n".join([*head, *rows]),
    ]
