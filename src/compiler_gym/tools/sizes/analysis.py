# SPDX-License-Identifier: MIT
"""One ELF file with everything that reports and remedies compute from it, each at most once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from compiler_gym.tools.sizes.binary import ElfFile, Numbers
from compiler_gym.tools.sizes.items import Items, list_items, measure_unwinding
from compiler_gym.tools.sizes.owners import plain_names
from compiler_gym.tools.sizes.parts import Part, PartSize, measure_parts
from compiler_gym.tools.sizes.references import References, find_references

__all__ = ["Analysis"]


@dataclass(frozen=True, eq=False)
class Analysis:
    """An ELF file, and what can be computed from it."""

    binary: ElfFile

    @cached_property
    def parts(self) -> Mapping[Part, PartSize]:
        """The size of each part; they add up to the file."""
        return measure_parts(self.binary, self.items)

    @cached_property
    def items(self) -> Items:
        """The functions and variables."""
        return list_items(self.binary)

    @cached_property
    def unwind(self) -> Numbers:
        """The bytes of unwind entries for each item."""
        return measure_unwinding(self.binary, self.items)

    @cached_property
    def names(self) -> list[str]:
        """The demangled name of each item."""
        return plain_names(self.binary, self.items)

    @cached_property
    def references(self) -> References | None:
        """The uses of items; None if the code of this machine cannot be read."""
        return find_references(self.binary, self.items)

    @cached_property
    def is_rust(self) -> bool:
        """True if parts were written in Rust."""
        compilers = self.binary.contents(".comment")
        return b"rustc version" in compilers or b"library/std/src/" in self.binary.data

    @cached_property
    def is_go(self) -> bool:
        """True if Go's linker wrote the file."""
        return ".gopclntab" in self.binary.sections.name

    @cached_property
    def throws(self) -> bool:
        """True if functions have exception tables."""
        return bool(self.binary.frames["table"].any())

    @property
    def is_code(self) -> NDArray[np.bool_]:
        """For each item, whether it is a function."""
        return self.binary.is_code[self.items.section]
