# SPDX-License-Identifier: MIT
"""Lower the operations of the language to LLVM IR, on scalars or vectors.

Division, square roots and sums follow IEEE 754. `exp` is a polynomial, within two units in the
last place, and returns 0 for subnormal results. Minimum and maximum are undefined for nan.
"""

from collections.abc import Callable, Mapping

from compiler_gym_loop_tool.toolchain.code.text import Function, vector

__all__ = ["DECLARATIONS", "IDENTITY", "combine", "number", "operate", "reduce_lanes", "splat"]

IDENTITY: Mapping[str, float] = {"sum": 0.0, "max": float("-inf")}
"""The initial value of each reduction."""

_WIDTHS = (1, 2, 4, 8, 16)

_INSTRUCTIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_ORDER = {"max": "ogt", "min": "olt"}

# Cephes' expf: x = n ln 2 + r, and exp(r) by a polynomial.
_LOG2E = 1.44269504088896341
_LN2_HIGH, _LN2_LOW = 0.693359375, -2.12194440e-4
_POLYNOMIAL = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
               1.6666665459e-1, 5.0000001201e-1)  # fmt: skip
_LEAST, _MOST = -87.33654, 88.72283


def number(value: float) -> str:
    """Return a float32 constant in the syntax of IR: the bits of the equal double."""
    import struct

    rounded = struct.unpack("f", struct.pack("f", value))[0]
    return f"0x{struct.unpack('<Q', struct.pack('<d', rounded))[0]:016X}"


def splat(function: Function, value: str, width: int) -> str:
    """Return a vector with `value`, a register or constant, in every lane."""
    if width == 1:
        return value
    if not value.startswith("%"):
        return "<" + ", ".join([f"float {value}"] * width) + ">"
    kind = vector(width)
    inserted = function.set(f"insertelement {kind} poison, float {value}, i64 0")
    return function.set(
        f"shufflevector {kind} {inserted}, {kind} poison, <{width} x i32> zeroinitializer"
    )


def operate(function: Function, op: str, operands: list[str], width: int) -> str:
    """Write one elementwise operation and return its result."""
    kind = vector(width)
    if op in _INSTRUCTIONS:
        return function.set(f"{_INSTRUCTIONS[op]} {kind} {operands[0]}, {operands[1]}")
    if op in _ORDER:
        return _select_value(function, _ORDER[op], operands[0], operands[1], width)
    return _UNARY[op](function, operands[0], width)


def combine(function: Function, reduction: str, total: str, value: str, width: int) -> str:
    """Write one step of a reduction and return the new total."""
    return operate(function, {"sum": "add", "max": "max"}[reduction], [total, value], width)


def multiply_add(function: Function, left: str, right: str, total: str, width: int) -> str:
    """Write `left * right + total`, rounded once."""
    kind = vector(width)
    return function.set(
        f"call {kind} @llvm.fma.{_suffix(width)}({kind} {left}, {kind} {right}, {kind} {total})"
    )


def reduce_lanes(function: Function, reduction: str, value: str, width: int) -> str:
    """Write the reduction of the lanes of a vector to a scalar."""
    while width > 1:
        half = width // 2
        kind = vector(width)
        parts = [
            function.set(
                f"shufflevector {kind} {value}, {kind} poison, <{half} x i32> "
                f"<{', '.join(f'i32 {lane}' for lane in lanes)}>"
            )
            for lanes in (range(half), range(half, width))
        ]
        if half == 1:
            parts = [
                function.set(f"extractelement {kind} {value}, i64 {lane}") for lane in range(2)
            ]
        value = combine(function, reduction, parts[0], parts[1], half)
        width = half
    return value


def _select_value(function: Function, order: str, left: str, right: str, width: int) -> str:
    kind = vector(width)
    is_left = function.set(f"fcmp {order} {kind} {left}, {right}")
    return function.set(f"select {vector(width, 'i1')} {is_left}, {kind} {left}, {kind} {right}")


def _suffix(width: int) -> str:
    return "f32" if width == 1 else f"v{width}f32"


def _root(function: Function, value: str, width: int) -> str:
    kind = vector(width)
    return function.set(f"call {kind} @llvm.sqrt.{_suffix(width)}({kind} {value})")


def _negative(function: Function, value: str, width: int) -> str:
    return function.set(f"fneg {vector(width)} {value}")


def _exponential(function: Function, value: str, width: int) -> str:
    kind, integer = vector(width), vector(width, "i32")

    def constant(value: float) -> str:
        return splat(function, number(value), width)

    def fuse(left: str, right: str, total: str) -> str:
        return multiply_add(function, left, right, total, width)

    low = _select_value(function, "ogt", value, constant(_LEAST), width)
    inside = _select_value(function, "olt", low, constant(_MOST), width)
    scaled = function.set(f"fmul {kind} {inside}, {constant(_LOG2E)}")
    power = function.set(f"call {kind} @llvm.rint.{_suffix(width)}({kind} {scaled})")
    remainder = fuse(power, constant(-_LN2_HIGH), inside)
    remainder = fuse(power, constant(-_LN2_LOW), remainder)
    total = constant(_POLYNOMIAL[0])
    for coefficient in _POLYNOMIAL[1:]:
        total = fuse(total, remainder, constant(coefficient))
    square = function.set(f"fmul {kind} {remainder}, {remainder}")
    total = fuse(total, square, remainder)
    total = function.set(f"fadd {kind} {total}, {constant(1.0)}")
    # Compute 2^n as two factors, because n may be 128.
    exponent = function.set(f"fptosi {kind} {power} to {integer}")
    ones = "1" if width == 1 else "<" + ", ".join(["i32 1"] * width) + ">"
    bits = "23" if width == 1 else "<" + ", ".join(["i32 23"] * width) + ">"
    bias = "127" if width == 1 else "<" + ", ".join(["i32 127"] * width) + ">"
    half = function.set(f"ashr {integer} {exponent}, {ones}")
    other = function.set(f"sub {integer} {exponent}, {half}")
    for part in (half, other):
        biased = function.set(f"add {integer} {part}, {bias}")
        shifted = function.set(f"shl {integer} {biased}, {bits}")
        factor = function.set(f"bitcast {integer} {shifted} to {kind}")
        total = function.set(f"fmul {kind} {total}, {factor}")
    is_least = function.set(f"fcmp olt {kind} {value}, {constant(_LEAST)}")
    is_most = function.set(f"fcmp ogt {kind} {value}, {constant(_MOST)}")
    flags = vector(width, "i1")
    total = function.set(f"select {flags} {is_least}, {kind} {constant(0.0)}, {kind} {total}")
    return function.set(
        f"select {flags} {is_most}, {kind} {constant(float('inf'))}, {kind} {total}"
    )


_UNARY: Mapping[str, Callable[[Function, str, int], str]] = {
    "exp": _exponential,
    "sqrt": _root,
    "neg": _negative,
}

DECLARATIONS = "".join(
    f"declare {vector(width)} @llvm.{name}.{_suffix(width)}"
    f"({', '.join([vector(width)] * operands)})\n"
    for name, operands in (("fma", 3), ("sqrt", 1), ("rint", 1))
    for width in _WIDTHS
)
