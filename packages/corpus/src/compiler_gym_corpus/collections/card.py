# SPDX-License-Identifier: MIT
"""The card of an exported dataset: a README that the library ``datasets`` reads, too."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compiler_gym.datasets import NO_SPLIT, SMALLEST, Dataset, PackageFacts
from compiler_gym.version import __version__

__all__ = ["ExportedSplit", "write_card"]

_SIZES = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 1_000_000))
_MOST_LICENCES = 30
_COLUMNS = (
    ("key", "program name: its address is the dataset's name, a slash and this key"),
    ("content", "the program, in the format that `suffix` indicates"),
    ("sha256", "SHA-256 digest of `content`"),
    ("license_expression", "licence of the file or its package, according to `debian/copyright`"),
    ("license_source, package_source", "package and version"),
    ("language", "`c` or `c++`; empty for linked files"),
    (
        "package, version, source_sha256",
        "source package, and the SHA-256 digest of its description",
    ),
    ("file, command", "source file and compiler command (JSON), without machine-specific paths"),
    ("kinds", "JSON list of `module`, `program` (linked) and `library` (shared)"),
    ("split, cluster", "see above"),
    (
        "instructions, functions",
        "number of instructions, and of functions with a body, before any pass",
    ),
    ("programs", "JSON list of the keys of the linked programs that contain it"),
    ("places", "JSON list of the package, version and file of each copy of these bytes"),
)


@dataclass(frozen=True, slots=True)
class ExportedSplit:
    """One file of an export."""

    name: str
    licences: "Counter[str]"
    """The number of programs per licence."""

    @property
    def count(self) -> int:
        """The number of programs in the file."""
        return sum(self.licences.values())


def write_card(
    dataset: Dataset, parts: Sequence[ExportedSplit], packages: Sequence[PackageFacts]
) -> str:
    """Return the text of the ``README.md`` that describes the files of `parts`."""
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
        "The split of a package depends only on the digest of its name and never changes.\n"
        f"A program is in `{NO_SPLIT}`, which means in no split, if the program or one of its "
        "functions is a near duplicate of one in a package of an earlier split "
        "(test, validation, train).\n"
        "Functions are near duplicates if they differ only in names and constants; functions of "
        f"fewer than {SMALLEST} instructions, and those of the C++ standard library, are not "
        "compared.\n"
        "Programs with the same `cluster` have functions that differ only in names and constants.",
    ]


def _licences(parts: Sequence[ExportedSplit]) -> str:
    counted = sum((part.licences for part in parts), Counter[str]())
    rows = [
        f"| {name.replace('|', '/') or 'not stated'} | {count:,} |"
        for name, count in sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    ]
    extra = len(rows) - _MOST_LICENCES
    more = [f"\nThe column `license_expression` has {extra} more."] if extra > 0 else []
    head = ["## Licences", "", "| licence | programs |", "| --- | ---: |"]
    return "\n".join([*head, *rows[:_MOST_LICENCES], *more])


def _packages(packages: Sequence[PackageFacts]) -> list[str]:
    rows = [f"| {p.name} | {p.version} | {p.license} | {p.split} |" for p in packages]
    head = ["| package | version | licence | split |", "| --- | --- | --- | --- |"]
    compilers = " / ".join(sorted({f"{p.compiler}, {p.level}" for p in packages}))
    origin = f"; compiled with {compilers}" if compilers.strip(", ") else ""
    return [
        "## Packages",
        f"The modules are unoptimised: no pass was run on them{origin}.",
        "\n".join([*head, *rows]),
    ]
