# SPDX-License-Identifier: MIT
"""One-line programs: ``matmul`` with ``m=128,n=128,k=128``, einsum strings, parts of layers.

Each kind is a row: its dimensions, and the lines of its program.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from compiler_gym.errors import BenchmarkInitError, UnknownNameError, unknown_name

__all__ = ["EINSUM", "KINDS", "Kind", "describe", "einsum"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A program that can have any sizes."""

    description: str
    sizes: Mapping[str, int]
    """The dimensions in order, with their default sizes."""
    lines: str
    """The program without its dimensions."""


EINSUM = "einsum"
"""The kind whose argument starts with a string in the syntax of `numpy.einsum`."""

_MATMUL = {"m": 128, "n": 128, "k": 128}
_MULTIPLY = "c = mul a b\ns = sum c [k]\nwrite s "

KINDS: Mapping[str, Kind] = {
    "matmul": Kind(
        "C[m, n] = A[m, k] B[k, n]",
        _MATMUL,
        f"a = read A[m, k]\nb = read B[k, n]\n{_MULTIPLY}C[m, n]",
    ),
    "matmul_nt": Kind(
        "C[m, n] = A[m, k] B[n, k]: the second operand transposed",
        _MATMUL,
        f"a = read A[m, k]\nb = read B[n, k]\n{_MULTIPLY}C[m, n]",
    ),
    "matmul_tn": Kind(
        "C[m, n] = A[k, m] B[k, n]: the first operand transposed",
        _MATMUL,
        f"a = read A[k, m]\nb = read B[k, n]\n{_MULTIPLY}C[m, n]",
    ),
    "batched_matmul": Kind(
        "C[b, m, n] = A[b, m, k] B[b, k, n]",
        {"b": 8, "m": 64, "n": 64, "k": 64},
        f"a = read A[b, m, k]\nb = read B[b, k, n]\n{_MULTIPLY}C[b, m, n]",
    ),
    "matvec": Kind(
        "y[m] = A[m, k] x[k]",
        {"m": 512, "k": 512},
        "a = read A[m, k]\nb = read X[k]\nc = mul a b\ns = sum c [k]\nwrite s Y[m]",
    ),
    "conv1d": Kind(
        "Y[n, x, f] = X[n, x + r, c] W[r, c, f]",
        {"n": 1, "x": 126, "f": 32, "r": 3, "c": 32},
        "a = read X[n, x+r, c]\nb = read W[r, c, f]\np = mul a b\ns = sum p [r, c]\n"
        "write s Y[n, x, f]",
    ),
    "conv2d": Kind(
        "Y[n, y, x, f] = X[n, y + r, x + s, c] W[r, s, c, f]",
        {"n": 1, "y": 28, "x": 28, "f": 32, "r": 3, "s": 3, "c": 32},
        "a = read X[n, y+r, x+s, c]\nb = read W[r, s, c, f]\np = mul a b\n"
        "t = sum p [r, s, c]\nwrite t Y[n, y, x, f]",
    ),
    "conv2d_stride2": Kind(
        "Y[n, y, x, f] = X[n, 2y + r, 2x + s, c] W[r, s, c, f]",
        {"n": 1, "y": 14, "x": 14, "f": 32, "r": 3, "s": 3, "c": 32},
        "a = read X[n, 2*y+r, 2*x+s, c]\nb = read W[r, s, c, f]\np = mul a b\n"
        "t = sum p [r, s, c]\nwrite t Y[n, y, x, f]",
    ),
    "depthwise": Kind(
        "Y[n, y, x, c] = X[n, y + r, x + s, c] W[r, s, c]",
        {"n": 1, "y": 28, "x": 28, "c": 64, "r": 3, "s": 3},
        "a = read X[n, y+r, x+s, c]\nb = read W[r, s, c]\np = mul a b\n"
        "t = sum p [r, s]\nwrite t Y[n, y, x, c]",
    ),
    "sum": Kind(
        "Y[m] = sum of X[m, k] over k",
        {"m": 512, "k": 512},
        "a = read X[m, k]\ns = sum a [k]\nwrite s Y[m]",
    ),
    "sum_columns": Kind(
        "Y[n] = sum of X[k, n] over k",
        {"n": 512, "k": 512},
        "a = read X[k, n]\ns = sum a [k]\nwrite s Y[n]",
    ),
    "row_max": Kind(
        "Y[m] = the largest of X[m, k] over k",
        {"m": 512, "k": 512},
        "a = read X[m, k]\ns = max a [k]\nwrite s Y[m]",
    ),
    "softmax": Kind(
        "Y[m, n] = exp(X[m, n] - max) / sum, over n",
        {"m": 128, "n": 512},
        "a = read X[m, n]\nh = max a [n]\nd = sub a h\ne = exp d\nw = keep e\nt = sum w [n]\n"
        "y = div w t\nwrite y Y[m, n]",
    ),
    "exp_sub": Kind(
        "Y[m, n] = exp(X[m, n] - H[m]): a part of softmax",
        {"m": 128, "n": 512},
        "a = read X[m, n]\nh = read H[m]\nd = sub a h\ne = exp d\nwrite e Y[m, n]",
    ),
    "scale_rows": Kind(
        "Y[m, n] = X[m, n] / T[m]: a part of softmax",
        {"m": 128, "n": 512},
        "a = read X[m, n]\nt = read T[m]\ny = div a t\nwrite y Y[m, n]",
    ),
    "add": Kind(
        "C[a] = A[a] + B[a]",
        {"a": 1048576},
        "x = read A[a]\ny = read B[a]\ns = add x y\nwrite s C[a]",
    ),
    "chain": Kind(
        "D[a] = max(A[a] * B[a] + C[a], 0)",
        {"a": 1048576},
        "x = read A[a]\ny = read B[a]\nz = read C[a]\np = mul x y\ns = add p z\nr = max s 0\n"
        "write r D[a]",
    ),
    "transpose": Kind(
        "Y[n, m] = X[m, n]", {"m": 512, "n": 512}, "a = read X[m, n]\nwrite a Y[n, m]"
    ),
    "dense": Kind(
        "Y[m, n] = max(X[m, k] W[k, n] + B[n], 0): two statements that can be fused",
        _MATMUL,
        "x = read X[m, k]\nw = read W[k, n]\nc = read B[n]\np = mul x w\ns = sum p [k]\n"
        "t = add s c\ny = max t 0\nwrite y Y[m, n]",
    ),
    "pair": Kind(
        "S[m] = sum of A[m, k] * B[m, k], then Y[m, n] = S[m] * C[n]: a fused pair",
        {"m": 256, "n": 256, "k": 256},
        "a = read A[m, k]\nb = read B[m, k]\np = mul a b\ns = sum p [k]\nc = read C[n]\n"
        "y = mul s c\nwrite y Y[m, n]",
    ),
    "attention": Kind(
        "O[q, e] = softmax over j of (Q[q, d] K[j, d]) times V[j, e]",
        {"q": 64, "j": 64, "d": 64, "e": 64},
        "a = read Q[q, d]\nb = read K[j, d]\np = mul a b\ns = sum p [d]\nh = max s [j]\n"
        "c = sub s h\nx = exp c\nw = keep x\nt = sum w [j]\nv = read V[j, e]\nm = mul w v\n"
        "o = sum m [j]\ny = div o t\nwrite y O[q, e]",
    ),
}
"""The kinds of programs."""

_SIZE = re.compile(r"([A-Za-z]\w*)=(\d{1,18})", re.ASCII)
_EINSUM = re.compile(r"([A-Za-z]*(?:,[A-Za-z]*)*)(?:->([A-Za-z]*))?")


def describe(kind: str, words: str) -> str:
    """Return the text of the program that a line describes.

    `kind` is a key of `KINDS` and `words` its sizes, ``m=128,n=64``; missing sizes have default
    values. For ``einsum``, the string and the sizes are separated by ``/``.

        >>> print(describe("sum", "m=8,k=4"))
        dim m 8
        dim k 4
        a = read X[m, k]
        s = sum a [k]
        write s Y[m]

    Raises `UnknownNameError` or `BenchmarkInitError`.
    """
    if kind == EINSUM:
        subscripts, _, sizes = words.partition("/")
        return einsum(subscripts, _parse_sizes(sizes, None))
    if kind not in KINDS:
        raise UnknownNameError(unknown_name("kind of program", kind, [*KINDS, EINSUM]))
    row = KINDS[kind]
    sizes = {**row.sizes, **_parse_sizes(words, row.sizes)}
    return "\n".join([*(f"dim {dim} {size}" for dim, size in sizes.items()), row.lines])


def einsum(subscripts: str, sizes: Mapping[str, int]) -> str:
    """Return the text of the program of an einsum string, such as ``mk,kn->mn``.

    Each letter is a dimension and needs a size. Operands are named A, B, ... and the result Y.
    As in NumPy, a string without ``->`` keeps the letters that occur once, in alphabetical order,
    and an operand with a repeated letter stands for its diagonal.

        >>> einsum("mk,kn", {"m": 2, "n": 3, "k": 4}).splitlines()[-1]
        'write s Y[m, n]'
    """
    compact = subscripts.replace(" ", "")
    match = _EINSUM.fullmatch(compact)
    if match is None or not compact:
        raise BenchmarkInitError(
            f"{subscripts!r} is not an einsum string; write one such as 'mk,kn->mn'"
        )
    operands, letters = match[1].split(","), match[1].replace(",", "")
    single = (letter for letter in sorted(set(letters)) if letters.count(letter) == 1)
    result = "".join(single) if match[2] is None else match[2]
    dims = list(dict.fromkeys(letters))
    if len(set(result)) != len(result):
        raise BenchmarkInitError(f"the result {result!r} repeats a letter")
    if unknown := set(result) - set(dims):
        raise BenchmarkInitError(f"no operand has the dimension {sorted(unknown)[0]!r}")
    if sorted(sizes) != sorted(dims):
        raise BenchmarkInitError(
            f"the sizes are those of {', '.join(sizes) or 'no dimensions'}; "
            f"give one for each of {', '.join(dims) or 'no dimensions'}"
        )
    if len(operands) > 8:
        raise BenchmarkInitError(f"{len(operands)} operands; at most 8 are possible")
    lines = [f"dim {dim} {sizes[dim]}" for dim in dims]
    for at, axes in enumerate(operands):
        lines.append(f"v{at} = read {chr(ord('A') + at)}[{', '.join(axes)}]")
    value = "v0"
    for at in range(1, len(operands)):
        lines.append(f"p{at} = mul {value} v{at}")
        value = f"p{at}"
    if over := [dim for dim in dims if dim not in result]:
        lines.append(f"s = sum {value} [{', '.join(over)}]")
        value = "s"
    lines.append(f"write {value} Y[{', '.join(result)}]")
    return "\n".join(lines)


def _parse_sizes(text: str, dims: Mapping[str, int] | None) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for word in filter(None, text.split(",")):
        match = _SIZE.fullmatch(word.strip())
        if match is None:
            raise BenchmarkInitError(f"cannot read {word!r}: write DIMENSION=SIZE")
        dim = match[1]
        if dims is not None and dim not in dims:
            raise BenchmarkInitError(f"no dimension {dim!r}; the dimensions are {', '.join(dims)}")
        if dim in sizes:
            raise BenchmarkInitError(f"the size of {dim} is repeated")
        sizes[dim] = int(match[2])
    return sizes
