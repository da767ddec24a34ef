"""Tables of ELF files, as columns by name; numbers are bytes of uint64."""

from collections.abc import Sequence
from typing import Any


def read_file(data: bytes) -> dict[str, Any]:
    """
    The headers, sections, segments, symbols and relative relocations of an ELF file for any machine. Raises `ValueError` if it is not an ELF file, or is damaged.
    """

def read_frames(data: bytes, address: int, tables: bytes, tables_address: int, bits: int, little: bool) -> dict[str, Any]:
    """
    The entries of `.eh_frame` up to the first that cannot be read, with the exception tables in `.gcc_except_table`.
    """

def read_units(data: bytes) -> dict[str, Any]:
    """
    The compile units in the debug information of an ELF file, with their addresses. Raises `ValueError` if it is not ELF.
    """

def function_bytes(object: bytes) -> dict[str, int]:
    """
    The bytes that each function of an ELF object adds to a program: its code, its entry in the unwind table, its exception table and its jump tables. Functions that share a section are left out. Raises `ValueError` if it is not an ELF object, or is damaged.
    """

def demangle(names: Sequence[str]) -> list[str]:
    """Names of C++, Rust and D as in the source."""
