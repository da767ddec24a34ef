# SPDX-License-Identifier: MIT
"""Parse a line such as ``c[i,j] += a[i,k] * b[k,j]; i=64, j=32, k=16`` as a payload."""

import re

from compiler_gym.errors import BenchmarkInitError
from compiler_gym_mlir.programs.writing import Writer

__all__ = ["describe_payload"]

_ACCESS = re.compile(r"([A-Za-z_]\w*)\[([\w, +*]+)\]")
_TERM = re.compile(r"(?:(\d+)\*)?([A-Za-z_]\w*)$")
_OPERATIONS = {"*": "mulf", "+": "addf", "-": "subf", "/": "divf"}


def describe_payload(line: str, element: str = "f32") -> str:
    """Return the module that `line` describes.

    ``=`` computes an element; ``+=`` sums over the indices that the result lacks. Operands are
    joined with ``* + - /``, from left to right. An index may be a sum, as in ``a[i+k]`` or
    ``a[2*i+k]``: the operand has the size that this needs. Raises `BenchmarkInitError`.
    """
    formula, _, lengths = line.partition(";")
    sizes = _parse_sizes(lengths, line)
    left, assigned, right = [*re.split(r"(\+?=)", formula, maxsplit=1), "", ""][:3]
    target = _ACCESS.fullmatch(left.strip())
    operands = list(_ACCESS.finditer(right))
    joints = _ACCESS.sub("@", right).split()
    if target is None or not operands or "".join(joints[::2]).strip("@"):
        raise _bad(line)
    if len(joints) != 2 * len(operands) - 1 or any(j not in _OPERATIONS for j in joints[1::2]):
        raise _bad(line)
    loops: list[str] = []
    accesses = [[part.strip() for part in match[2].split(",")] for match in (target, *operands)]
    for access in accesses:
        for part in access:
            for _, name in _terms(part, line):
                if name not in sizes:
                    raise BenchmarkInitError(f"{line!r} has no length for {name}: add {name}=8")
                if name not in loops:
                    loops.append(name)
    if (assigned == "=") != (set(accesses[0]) == set(loops)):
        raise BenchmarkInitError(
            f"{line!r}: use = if the result has every index, and += if it sums over some"
        )
    writer = Writer(element)
    names: dict[str, str] = {}
    values: list[str] = []
    for match, access in zip(operands, accesses[1:], strict=True):
        shape = [_extent(part, sizes, line) for part in access]
        if match[1] not in names:
            names[match[1]] = writer.argument(*shape)
        if writer.shapes[names[match[1]]] != tuple(shape):
            raise BenchmarkInitError(f"{line!r} uses {match[1]} in two shapes: use it in one")
        values.append(names[match[1]])
    shape = [_extent(part, sizes, line) for part in accesses[0]]
    out = writer.zeros(*shape) if assigned == "+=" else writer.empty(*shape)
    body: list[str] = []
    last = "%in0"
    for number, joint in enumerate(joints[1::2], 1):
        body.append(f"%v{number} = arith.{_OPERATIONS[joint]} {last}, %in{number} : #")
        last = f"%v{number}"
    if assigned == "+=":
        body.append(f"%sum = arith.addf %out, {last} : #")
        last = "%sum"
    inputs: list[tuple[str, list[str]]] = [
        (value, access) for value, access in zip(values, accesses[1:], strict=True)
    ]
    result = writer.generic(inputs, (out, accesses[0]), loops, [*body, f"linalg.yield {last} : #"])
    return writer.text(result)


def _parse_sizes(text: str, line: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = part.partition("=")
        if not value.strip().isdecimal() or not 0 < int(value) < 2**31:
            raise BenchmarkInitError(f"{line!r}: write lengths such as i=64 (got {part!r})")
        sizes[name.strip()] = int(value)
    return sizes


def _terms(part: str, line: str) -> list[tuple[int, str]]:
    terms: list[tuple[int, str]] = []
    for term in part.replace(" ", "").split("+"):
        match = _TERM.match(term)
        if match is None:
            raise _bad(line)
        terms.append((int(match[1] or 1), match[2]))
    return terms


def _extent(part: str, sizes: dict[str, int], line: str) -> int:
    return 1 + sum(factor * (sizes[name] - 1) for factor, name in _terms(part, line))


def _bad(line: str) -> BenchmarkInitError:
    return BenchmarkInitError(
        f"cannot read {line!r}: write a line such as 'c[i,j] += a[i,k] * b[k,j]; i=64, j=64, k=64'"
    )
