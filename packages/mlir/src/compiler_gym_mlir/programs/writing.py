# SPDX-License-Identifier: MIT
"""Write functions of linalg on tensors: values with shapes, and the operations that kernels and
networks share. This module does not load MLIR."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from compiler_gym.errors import BenchmarkInitError

__all__ = [
    "MOST_ELEMENTS",
    "Writer",
    "add_bias",
    "convolution",
    "count_elements",
    "out_size",
    "product",
    "write_relu",
    "write_softmax",
    "write_sum",
]

MOST_ELEMENTS = 1 << 29
"""The largest number of elements of a tensor: 2 GiB of float32."""


@dataclass(slots=True)
class Writer:
    """A function in progress: its arguments and lines."""

    element: str = "f32"
    arguments: list[tuple[str, tuple[int, ...]]] = field(
        default_factory=list[tuple[str, tuple[int, ...]]]
    )
    lines: list[str] = field(default_factory=list[str])
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])

    def argument(self, *shape: int) -> str:
        """Return a new argument."""
        name = f"%arg{len(self.arguments)}"
        self.arguments.append((name, shape))
        self.shapes[name] = shape
        return name

    def kind(self, value: str) -> str:
        """Return the type of `value`."""
        return self.tensor(self.shapes[value])

    def tensor(self, shape: Sequence[int]) -> str:
        """Return the type of a tensor."""
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.element}>"

    def line(self, text: str, shape: Sequence[int] = ()) -> str:
        """Append ``%N = text`` and return its name."""
        name = f"%{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = tuple(shape)
        return name

    def number(self, value: float | str) -> str:
        """Return a constant from a number or its bits."""
        is_float = self.element.startswith("f")
        text = value if isinstance(value, str) else (f"{value:.17e}" if is_float else str(value))
        return self.line(f"arith.constant {text} : {self.element}")

    def lowest(self) -> str:
        """Return the identity of the maximum: the lowest value."""
        lowest = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}
        return self.number(lowest.get(self.element, str(-(2 ** (int(self.element[1:]) - 1)))))

    def empty(self, *shape: int) -> str:
        """Return an uninitialised tensor."""
        if count_elements(shape) > MOST_ELEMENTS:
            raise BenchmarkInitError(f"a tensor of {shape} has more than {MOST_ELEMENTS} elements")
        return self.line(f"tensor.empty() : {self.tensor(shape)}", shape)

    def fill(self, value: str, *shape: int) -> str:
        """Return a tensor filled with `value`."""
        empty = self.empty(*shape)
        kind = self.tensor(shape)
        return self.line(
            f"linalg.fill ins({value} : {self.element}) outs({empty} : {kind}) -> {kind}", shape
        )

    def zeros(self, *shape: int) -> str:
        """Return a tensor of zeros."""
        return self.fill(self.number(0), *shape)

    def write_named(self, operation: str, inputs: Sequence[str], output: str) -> str:
        """Return the result of a named operation that writes into `output`."""
        kinds = ", ".join(map(self.kind, inputs))
        kind = self.kind(output)
        return self.line(
            f"linalg.{operation} ins({', '.join(inputs)} : {kinds}) outs({output} : {kind}) "
            f"-> {kind}",
            self.shapes[output],
        )

    def generic(
        self,
        inputs: Sequence[tuple[str, Sequence[str]]],
        output: tuple[str, Sequence[str]],
        loops: Sequence[str],
        body: Sequence[str],
    ) -> str:
        """Return the result of a ``linalg.generic`` from loops, named accesses and a body.

        `body` uses the operands ``%in0``, ``%in1``, ..., and ``%out``; its last line yields.
        """
        accesses = [access for _, access in inputs] + [output[1]]
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(access)})>" for access in accesses
        )
        used = set(output[1])
        iterators = ", ".join(f'"{"parallel" if loop in used else "reduction"}"' for loop in loops)
        names = ", ".join(
            [*(f"%in{i}: {self.element}" for i in range(len(inputs))), f"%out: {self.element}"]
        )
        values = ", ".join(value for value, _ in inputs)
        kinds = ", ".join(self.kind(value) for value, _ in inputs)
        sources = f"ins({values} : {kinds}) " if inputs else ""
        kind = self.kind(output[0])
        inner = "\n      ".join(line.replace("#", self.element) for line in body)
        return self.line(
            f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
            f"{sources}outs({output[0]} : {kind}) {{\n    ^bb0({names}):\n      {inner}\n"
            f"    }} -> {kind}",
            self.shapes[output[0]],
        )

    def map(self, inputs: Sequence[str], body: Sequence[str]) -> str:
        """Return an element-wise operation on tensors of one shape."""
        shape = self.shapes[inputs[0]]
        loops = [f"d{i}" for i in range(len(shape))]
        return self.generic(
            [(value, loops) for value in inputs], (self.empty(*shape), loops), loops, body
        )

    def reshape(self, value: str, *shape: int) -> str:
        """Return `value` as a row of `shape`, with all axes but the first collapsed."""
        groups = f"[[0], [{', '.join(map(str, range(1, len(self.shapes[value]))))}]]"
        kinds = f"{self.kind(value)} into {self.tensor(shape)}"
        return self.line(f"tensor.collapse_shape {value} {groups} : {kinds}", shape)

    def pad(self, value: str, border: Sequence[int]) -> str:
        """Return `value` padded on both sides of each axis with `border` zeros."""
        zero = self.number(0)
        sizes = zip(self.shapes[value], border, strict=True)
        shape = tuple(size + 2 * more for size, more in sizes)
        places = ", ".join(f"%i{axis}: index" for axis in range(len(shape)))
        around = f"[{', '.join(map(str, border))}]"
        return self.line(
            f"tensor.pad {value} low{around} high{around} {{\n    ^bb0({places}):\n"
            f"      tensor.yield {zero} : {self.element}\n"
            f"    }} : {self.kind(value)} to {self.tensor(shape)}",
            shape,
        )

    def text(self, *results: str) -> str:
        """Return the complete module."""
        arguments = ", ".join(f"{name}: {self.tensor(shape)}" for name, shape in self.arguments)
        kinds = ", ".join(map(self.kind, results))
        body = "".join(f"    {line}\n" for line in self.lines)
        returned = f"({kinds})" if len(results) > 1 else kinds
        return (
            f"module {{\n  func.func @main({arguments}) -> {returned} {{\n{body}"
            f"    return {', '.join(results)} : {kinds}\n  }}\n}}\n"
        )


def product(w: Writer, a: str, b: str) -> str:
    """Return a matrix product."""
    return w.write_named("matmul", [a, b], w.zeros(w.shapes[a][0], w.shapes[b][1]))


def write_relu(w: Writer, value: str) -> str:
    """Return the ReLU of `value`."""
    zero = w.number(0)
    return w.map([value], [f"%m = arith.maximumf %in0, {zero} : #", "linalg.yield %m : #"])


def write_sum(w: Writer, a: str, b: str) -> str:
    """Return an element-wise sum."""
    return w.map([a, b], ["%s = arith.addf %in0, %in1 : #", "linalg.yield %s : #"])


def add_bias(w: Writer, value: str, bias: str, axis: int) -> str:
    """Return `value` with an element of `bias` added at each index along `axis`."""
    shape = w.shapes[value]
    loops = [f"d{i}" for i in range(len(shape))]
    return w.generic(
        [(value, loops), (bias, [loops[axis]])],
        (w.empty(*shape), loops),
        loops,
        ["%s = arith.addf %in0, %in1 : #", "linalg.yield %s : #"],
    )


def convolution(w: Writer, image: str, filters: str, stride: int, *, last: bool = False) -> str:
    """Return a two-dimensional convolution, with channels first or `last`."""
    shape, kernel = w.shapes[image], w.shapes[filters]
    attributes = (
        f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    )
    if last:
        n, h, width, _ = shape
        kh, kw, _, f = kernel
        out = (n, out_size(h, kh, stride), out_size(width, kw, stride), f)
        name = "conv_2d_nhwc_hwcf"
    else:
        n, _, h, width = shape
        f, _, kh, kw = kernel
        out = (n, f, out_size(h, kh, stride), out_size(width, kw, stride))
        name = "conv_2d_nchw_fchw"
    return w.write_named(f"{name} {attributes}", [image, filters], w.zeros(*out))


def write_softmax(w: Writer, value: str) -> str:
    """Return the softmax along the last axis."""
    shape = w.shapes[value]
    return w.write_named(f"softmax dimension({len(shape) - 1})", [value], w.empty(*shape))


def out_size(size: int, kernel: int, stride: int) -> int:
    """Return the number of windows of `kernel` elements, `stride` apart."""
    if size < kernel:
        raise BenchmarkInitError(f"an image of {size} is smaller than its filter of {kernel}")
    return (size - kernel) // stride + 1


def count_elements(shape: Sequence[int]) -> int:
    """Return the number of elements in a tensor of `shape`."""
    total = 1
    for size in shape:
        total *= size
    return total
