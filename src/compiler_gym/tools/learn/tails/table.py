# SPDX-License-Identifier: MIT
"""The outcomes of tails on functions as a Parquet file, to study without a compiler.

A row is a function with its features, and its size after each tail, in instructions and in bytes.
So the result of any choice is known exactly, and so is its regret.
"""

import json
from collections import Counter
from dataclasses import dataclass, fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError
from compiler_gym.files import write_whole
from compiler_gym.tools.learn.tails.labels import Labels
from compiler_gym.tools.learn.tails.options import TailGoal
from compiler_gym.version import __version__

__all__ = ["FILE", "VALIDATION", "TailColumns", "TailTable"]

FILE = "functions.parquet"
VALIDATION = Path(__file__).with_name("validation.parquet")
"""The validation packages of `debian-100`, which come with the library."""
_KEY = b"compiler_gym"
_ABOUT = {
    "package": "source package",
    "split": "`train`, `validation` or `test`; a package is in one split",
    "license": "licence of the source or its package, as the distribution states it",
    "module": "SHA-256 digest of the module, before any pass",
    "name": "function name",
    "shape": "hash of the function without names and constants; equal for near duplicates",
    "instructions": "after `clang -Oz`",
    "bytes": "after `clang -Oz`: x86-64 code, unwind entry, exception table and jump tables",
    "features": "numbers about the function; the metadata names them",
    "probes": "instructions that each probe, a cheap pass, leaves",
    "left_instructions": "instructions that each tail leaves",
    "left_bytes": "bytes that each tail leaves",
}

_CARD = """---
license: other
license_name: of-each-function
tags:
- compilers
configs:
- config_name: default
  data_files: functions.parquet
---
# Tails: functions, and their sizes after passes that follow `clang -Oz`

{functions:,} functions after `clang -Oz` of {compiler}, and the outcomes of {tails} tails on each.
A tail is a pipeline of function passes that follows.
Written by `compiler-gym tails table` of compiler_gym {version}.
`TailTable.load` of `compiler_gym.tools.learn.tails` reads it, and needs no compiler.
The file contains names of functions and numbers, but no code.

Learn from `train`, choose on `validation`, and use `test` once.

| split | packages | functions | instructions | bytes |
| --- | ---: | ---: | ---: | ---: |
{splits}

## Columns

{columns}

The schema's metadata `compiler_gym` is JSON with the lists `tails`, `probes` and `features`, in the
order of these columns, and `covers`: for each goal the numbers of the tails that were chosen for it
on `train`, the best alone first.

## Licences

| licence | functions |
| --- | ---: |
{licenses}
"""


@dataclass(frozen=True, slots=True)
class TailColumns:
    """The columns: a row for each function."""

    package: NDArray[np.str_]
    split: NDArray[np.str_]
    license: NDArray[np.str_]
    module: NDArray[np.str_]
    name: NDArray[np.str_]
    shape: NDArray[np.int64]
    instructions: NDArray[np.int32]
    bytes: NDArray[np.int32]
    features: NDArray[np.float32]
    probes: NDArray[np.int32]
    left_instructions: NDArray[np.int32]
    left_bytes: NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class TailTable:
    """A table of functions, and the names of what its columns hold."""

    columns: TailColumns
    tails: list[str]
    probes: list[str]
    features: list[str]
    covers: dict[str, list[int]]
    """For each goal, the tails that were chosen for it, the best alone first."""
    compiler: str
    """The version of LLVM."""

    def labels(self, goal: TailGoal | str, *splits: str, every: bool = False) -> Labels:
        """Return the rows of some splits, with what the tails for a goal leave.

        The tails are those of `tails_for`; with `every`, all others follow.
        """
        own, chosen = self.columns, np.isin(self.columns.split, splits)
        order = self._order(goal, every)
        sizes, left = (
            (own.bytes, own.left_bytes)
            if goal == TailGoal.BYTES
            else (own.instructions, own.left_instructions)
        )
        rows = (own.package, own.module, own.name, own.shape, own.instructions, sizes)
        return Labels(*rows, own.features, own.probes, left[:, order]).where(chosen)

    def tails_for(self, goal: TailGoal | str, *, every: bool = False) -> list[str]:
        """Return the tails that were chosen for a goal; with `every`, all others follow."""
        return [self.tails[place] for place in self._order(goal, every)]

    def _order(self, goal: TailGoal | str, every: bool) -> list[int]:
        cover = self.covers[TailGoal(goal)]
        return list(dict.fromkeys([*cover, *range(len(self.tails))])) if every else cover

    def save(self, folder: Path) -> Path:
        """Write the Parquet file and its card into `folder`, and return the file."""
        pa, parquet = library("pyarrow", "parquet"), library("pyarrow.parquet", "parquet")
        columns = {
            item.name: _to_arrow(pa, getattr(self.columns, item.name))
            for item in fields(TailColumns)
        }
        about = {name: getattr(self, name) for name in _NAMED}
        table = pa.table(columns).replace_schema_metadata({_KEY: json.dumps(about)})
        file = BytesIO()
        parquet.write_table(table, file, compression="zstd", compression_level=19)
        write_whole(folder / FILE, file.getvalue())
        write_whole(folder / "README.md", self._card().encode())
        return folder / FILE

    @classmethod
    def load(cls, path: Path) -> "TailTable":
        """Read a file that `save` wrote."""
        parquet = library("pyarrow.parquet", "parquet")
        try:
            table = parquet.read_table(path)
            about: dict[str, Any] = json.loads(table.schema.metadata[_KEY])
            columns = [_from_arrow(table[item.name]) for item in fields(TailColumns)]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InvalidParameterError(
                f"cannot read a table of `compiler-gym tails table` from {path}: {error}"
            ) from error
        return cls(TailColumns(*columns), **{name: about[name] for name in _NAMED})

    def _card(self) -> str:
        own = self.columns
        splits = [
            f"| {split} | {len(np.unique(own.package[rows]))} | {rows.sum():,} "
            f"| {own.instructions[rows].sum():,} | {own.bytes[rows].sum():,} |"
            for split in np.unique(own.split)
            if (rows := own.split == split).any()
        ]
        licenses = [
            f"| {name.replace('|', '/') or 'not stated'} | {count:,} |"
            for name, count in Counter(sorted(own.license.tolist())).most_common()
        ]
        return _CARD.format(
            functions=len(own.name),
            tails=len(self.tails),
            compiler=self.compiler,
            version=__version__,
            splits="\n".join(splits),
            columns="\n".join(f"- `{name}`: {text}." for name, text in _ABOUT.items()),
            licenses="\n".join(licenses),
        )


_NAMED = ("tails", "probes", "features", "covers", "compiler")


def _to_arrow(pa: Any, column: NDArray[Any]) -> Any:
    if column.ndim == 1:
        return pa.array(column.tolist()) if column.dtype.kind == "U" else pa.array(column)
    return pa.FixedSizeListArray.from_arrays(pa.array(column.ravel()), column.shape[1])


def _from_arrow(column: Any) -> NDArray[Any]:
    whole = column.combine_chunks()
    if hasattr(whole.type, "list_size"):
        return whole.flatten().to_numpy().reshape(-1, whole.type.list_size)
    values = whole.to_numpy(zero_copy_only=False)
    return values.astype(np.str_) if values.dtype.kind == "O" else values
