# SPDX-License-Identifier: MIT
"""Groups the bytes of functions and variables by name, crate, namespace, package or source.

Names are demangled, without the hashes that change from build to build.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from compiler_gym import _elf
from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular
from compiler_gym.tools.sizes.binary import ElfFile, Numbers
from compiler_gym.tools.sizes.items import Items

__all__ = ["Owner", "group_by_file", "group_by_namespace", "plain_names", "sum_by_name"]

_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")
_RUST_CRATE_HASH = re.compile(r"\[[0-9a-f]{8,16}\]")
_LLVM_SUFFIX = re.compile(r"\s*\(?\.llvm\.\d+\)?")
_RUST_ESCAPES = {
    "$LT$": "<", "$GT$": ">", "$RF$": "&", "$BP$": "*", "$LP$": "(", "$RP$": ")", "$C$": ",",
    "$u20$": " ", "$u27$": "'", "$u5b$": "[", "$u5d$": "]", "$u7b$": "{", "$u7d$": "}",
    "$u3b$": ";", "$u2b$": "+", "$u22$": '"', "..": "::",
}  # fmt: skip
_RUST_ESCAPE = re.compile("|".join(map(re.escape, _RUST_ESCAPES)))
_LEGACY = re.compile(r"^_ZN.*17h[0-9a-f]{16}E")
_SCOPE = re.compile(
    r"(?:_GLOBAL__sub_[ID]_)?_+(?:"
    r"R(?>[MX]s[0-9A-Za-z]{0,12}_|[^C])*?C(?:s[0-9A-Za-z]{0,12}_)?(?P<crate>\d{1,5})_?|"
    r"Z(?:T[VTISCWH]|G[VR]|GT[tn]|Tc?(?:[hv](?:n?\d+_)+)+|[ZPKVRO])*"
    r"(?:N[rVKRHO]*(?P<name>\d{1,5})|N?[rVKRHO]*S[tabsiod]))"
)
"""The beginning of Rust's mangled names up to the crate, and of those of C++ up to the outermost
scope. Demangled names may begin with the type of the result, and mangled ones do not."""
_PATH = re.compile(r"([A-Za-z_]\w*)(?:<.*?>)?::")
_GO = re.compile(r"^(?:go:|type:)?(?P<package>[\w.\-/~%]*?/?[\w\-~%]+)\.[\w(\[*]")
_MAP_LLD = re.compile(r"^ *([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+) +\d+ {9}(\S.*):\([^()]*\)$", re.M)
_MAP_GNU = re.compile(r"^ \S+\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$", re.M)
_NO_SYMBOL = "[no symbol]"
_NO_NAMESPACE = "[no namespace]"
_NO_SOURCE = "[no source known]"


@dataclass(frozen=True, slots=True)
class Owner:
    """A function, variable, crate or file, and its bytes."""

    name: str
    size: int
    """The bytes of code or data."""
    unwind: int = 0
    """The bytes of unwind entries for the code."""

    @property
    def loaded(self) -> int:
        """All bytes."""
        return self.size + self.unwind


def group_by_namespace(binary: ElfFile, items: Items, names: list[str]) -> list[str]:
    """Return the crate, C++ namespace or Go package of each item, whose plain names are `names`."""
    is_go = ".gopclntab" in binary.sections.name
    pairs = list(zip(_mangled_names(binary, items), names, strict=True))
    cache = {pair: _namespace(*pair, is_go=is_go) for pair in set(pairs)}
    return [cache[pair] for pair in pairs]


def group_by_file(binary: ElfFile, link_map: Path | None = None) -> list[Owner]:
    """Return the sources in the debug information, or the objects and archive members in a map."""
    if link_map is not None:
        low, size, names = _read_map(link_map)
        places = binary.offsets(low)
        loaded = places >= 0
        return sum_by_name([n for n, is_loaded in zip(names, loaded, strict=True) if is_loaded],
                    size[loaded], np.zeros(int(loaded.sum()), dtype=np.int64))  # fmt: skip
    units, frames = binary.units, binary.frames
    order = np.argsort(units["low"], kind="stable")
    low, high, unit = units["low"][order], units["high"][order], units["unit"][order]
    unwind = np.zeros(len(low), dtype=np.int64)
    if len(low):
        at = np.searchsorted(low, frames["function"], side="right") - 1
        inside = (at >= 0) & (frames["function"] < high[np.maximum(at, 0)])
        np.add.at(unwind, at[inside], frames["size"][inside])
    indices: list[int] = unit.tolist()
    names = [units.name[index] or _NO_SOURCE for index in indices]
    return sum_by_name(names, np.clip(high - low, 0, len(binary.data)), unwind)


def _read_map(path: Path) -> tuple[Numbers, Numbers, list[str]]:
    try:
        text = read_regular(path).decode(errors="replace")
    except OSError as error:
        raise ProjectError(f"cannot read the linker map {path}: {error.strerror}") from error
    rows = _MAP_LLD.findall(text) or _MAP_GNU.findall(text)
    rows = [row for row in rows if len(row[0]) <= 16 and int(row[1], 16)]
    if not rows:
        raise ProjectError(f"{path} is not a map of lld or GNU ld: link with -Wl,-Map={path}")
    low = np.array([int(address, 16) for address, _, _ in rows], dtype=np.uint64).view(np.int64)
    size = np.array([min(int(size, 16), 1 << 61) for _, size, _ in rows], dtype=np.int64)
    return low, size, [name.strip() for _, _, name in rows]


def plain_names(binary: ElfFile, items: Items) -> list[str]:
    """Return the demangled name of each item, without hashes of Rust and LLVM."""
    mangled = _mangled_names(binary, items)
    names = [_plain(*both) for both in zip(mangled, _elf.demangle(mangled), strict=True)]
    for index in np.flatnonzero(items.symbol < 0).tolist():
        section = binary.sections.name[int(items.section[index])]
        names[index] = f"[{section}]" if section.startswith(".plt") else _NO_SYMBOL
    return names


def _mangled_names(binary: ElfFile, items: Items) -> list[str]:
    indices: list[int] = items.symbol.tolist()
    return [binary.symbols.name[index] if index >= 0 else "" for index in indices]


def _plain(mangled: str, readable: str) -> str:
    if ".llvm." in readable:
        readable = _LLVM_SUFFIX.sub("", readable)
    if mangled.startswith("_R"):
        return _RUST_CRATE_HASH.sub("", readable)
    if _LEGACY.match(mangled):
        readable = _RUST_HASH.sub("", readable)
        readable = _RUST_ESCAPE.sub(lambda match: _RUST_ESCAPES[match[0]], readable)
        return readable.replace("_<", "<", 1) if readable.startswith("_<") else readable
    return readable


def _namespace(mangled: str, name: str, *, is_go: bool = False) -> str:
    """Return the outermost crate, namespace or package of a symbol, which reads `name`.

    >>> _namespace("_ZN3app5plainIiEEN3lib5ThingET_", "lib::Thing app::plain<int>(int)")
    'app'
    >>> _namespace("json.Decode", "encoding/json.(*Decoder).Decode", is_go=True)
    'encoding/json'
    """
    if not mangled:
        return name
    if is_go and (match := _GO.match(name)):
        return match["package"]
    if not (match := _SCOPE.match(mangled)):
        return _NO_NAMESPACE
    size = match["crate"] or match["name"]
    scope = mangled[match.end() :][: int(size)] if size else "std"
    if "$LT$" in scope:  # a type in Rust's older names
        match = _PATH.search(name)
        return match[1] if match else _NO_NAMESPACE
    if scope.startswith("$_"):  # a lambda outside of namespaces
        return _NO_NAMESPACE
    return "(anonymous namespace)" if scope.startswith("_GLOBAL__N") else scope


def sum_by_name(names: Iterable[str], sizes: Numbers, unwind: Numbers) -> list[Owner]:
    """Return an owner for each name, the largest first."""
    sums: dict[str, tuple[int, int]] = {}
    for name, size, entry in zip(names, sizes.tolist(), unwind.tolist(), strict=True):
        old = sums.get(name, (0, 0))
        sums[name] = (old[0] + size, old[1] + entry)
    owners = [Owner(name, *both) for name, both in sums.items()]
    return sorted(owners, key=lambda owner: (-owner.loaded, owner.name))
