# SPDX-License-Identifier: MIT
"""Writes kernels as functions of linalg on tensors.

A kernel is a name and sizes, as in ``matmul/512x512x512``. Each takes its operands and returns a
fresh result. Nothing of MLIR is loaded: text is written.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from compiler_gym.errors import BenchmarkInitError
from compiler_gym.nearest import unknown_name

__all__ = ["KERNELS", "Kernel", "Writer", "build"]

_MOST_ELEMENTS = 1 << 29
"""The most elements of one tensor: 2 GiB of float32."""
_ANY_RANK = ("add", "relu")
_HIGHEST_RANK = 6


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kind of kernel: what its sizes are called and what writes it."""

    name: str
    sizes: tuple[str, ...]
    write: Callable[..., str]
    description: str
    default: tuple[int, ...]
    """The sizes of the benchmark that is listed."""


@dataclass(slots=True)
class Writer:
    """A function that is being written: its arguments and its lines."""

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
        """Return a constant: a number, or the bits of one."""
        is_float = self.element.startswith("f")
        text = value if isinstance(value, str) else (f"{value:.17e}" if is_float else str(value))
        return self.line(f"arith.constant {text} : {self.element}")

    def lowest(self) -> str:
        """Return what every maximum is above."""
        lowest = {"f32": "0xFF800000", "f64": "0xFFF0000000000000"}
        return self.number(lowest.get(self.element, str(-(2 ** (int(self.element[1:]) - 1)))))

    def empty(self, *shape: int) -> str:
        """Return a tensor that holds nothing yet."""
        if _count(shape) > _MOST_ELEMENTS:
            raise BenchmarkInitError(
                f"a tensor of {shape} is larger than {_MOST_ELEMENTS} elements"
            )
        return self.line(f"tensor.empty() : {self.tensor(shape)}", shape)

    def filled(self, value: str, *shape: int) -> str:
        """Return a tensor that holds `value` everywhere."""
        empty = self.empty(*shape)
        kind = self.tensor(shape)
        return self.line(
            f"linalg.fill ins({value} : {self.element}) outs({empty} : {kind}) -> {kind}", shape
        )

    def zeros(self, *shape: int) -> str:
        """Return a tensor of zeros."""
        return self.filled(self.number(0), *shape)

    def named(self, operation: str, inputs: Sequence[str], output: str) -> str:
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
        """Return the result of a ``linalg.generic``: loops, accesses by their names, a body.

        `body` names the operands ``%in0``, ``%in1``, ..., and ``%out``; its last line yields.
        """
        accesses = [access for _, access in inputs] + [output[1]]
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(access)})>" for access in accesses
        )
        kept = set(output[1])
        iterators = ", ".join(f'"{"parallel" if loop in kept else "reduction"}"' for loop in loops)
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
        """Return an element-wise operation of tensors of one shape."""
        shape = self.shapes[inputs[0]]
        loops = [f"d{i}" for i in range(len(shape))]
        return self.generic(
            [(value, loops) for value in inputs], (self.empty(*shape), loops), loops, body
        )

    def text(self, *results: str) -> str:
        """Return the whole module."""
        arguments = ", ".join(f"{name}: {self.tensor(shape)}" for name, shape in self.arguments)
        kinds = ", ".join(map(self.kind, results))
        body = "".join(f"    {line}\n" for line in self.lines)
        returned = f"({kinds})" if len(results) > 1 else kinds
        return (
            f"module {{\n  func.func @main({arguments}) -> {returned} {{\n{body}"
            f"    return {', '.join(results)} : {kinds}\n  }}\n}}\n"
        )


def build(name: str, sizes: Sequence[int], element: str = "f32") -> str:
    """Return the kernel `name` of `sizes` as text.

    Raises `BenchmarkInitError` for a kernel, a number of sizes or a type that does not exist.
    """
    kernel = KERNELS.get(name)
    if kernel is None:
        raise BenchmarkInitError(unknown_name("kernel", name, KERNELS))
    fits = len(sizes) == len(kernel.sizes)
    if name in _ANY_RANK:
        fits = 1 <= len(sizes) <= _HIGHEST_RANK
    if not fits or min(sizes) < 1:
        raise BenchmarkInitError(
            f"{name} has {len(kernel.sizes)} sizes ({'x'.join(kernel.sizes)}) of at least 1, "
            f"as in {name}/{'x'.join(map(str, kernel.default))}: found "
            f"{'x'.join(map(str, sizes)) or 'none'}"
        )
    if element not in ("f32", "f64") and not (name == "matmul" and element in ("i32", "i64")):
        raise BenchmarkInitError(
            f"{name} is not written for {element}: expected type=f32 or type=f64"
            " (matmul: i32 and i64 too)"
        )
    writer = Writer(element)
    result = kernel.write(writer, *sizes)
    text = writer.text(result)
    largest = max(_count(shape) for shape in writer.shapes.values())
    if largest > _MOST_ELEMENTS:
        raise BenchmarkInitError(f"{name}: a tensor has more than {_MOST_ELEMENTS} elements")
    return text


def _count(shape: Sequence[int]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def product(w: Writer, a: str, b: str) -> str:
    """Return a matrix product."""
    return w.named("matmul", [a, b], w.zeros(w.shapes[a][0], w.shapes[b][1]))


def relu_of(w: Writer, value: str) -> str:
    """Return the larger of each element and zero."""
    zero = w.number(0)
    return w.map([value], [f"%m = arith.maximumf %in0, {zero} : #", "linalg.yield %m : #"])


def sum_of(w: Writer, a: str, b: str) -> str:
    """Return an element-wise sum."""
    return w.map([a, b], ["%s = arith.addf %in0, %in1 : #", "linalg.yield %s : #"])


def biased(w: Writer, value: str, bias: str, axis: int) -> str:
    """Return `value` with a number added for each place along `axis`."""
    shape = w.shapes[value]
    loops = [f"d{i}" for i in range(len(shape))]
    return w.generic(
        [(value, loops), (bias, [loops[axis]])],
        (w.empty(*shape), loops),
        loops,
        ["%s = arith.addf %in0, %in1 : #", "linalg.yield %s : #"],
    )


def convolution(w: Writer, image: str, filters: str, stride: int, *, last: bool = False) -> str:
    """Return a two-dimensional convolution; channels come first, or `last`."""
    shape, kernel = w.shapes[image], w.shapes[filters]
    attributes = (
        f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    )
    if last:
        n, h, width, _ = shape
        kh, kw, _, f = kernel
        out = (n, _out(h, kh, stride), _out(width, kw, stride), f)
        word = "conv_2d_nhwc_hwcf"
    else:
        n, _, h, width = shape
        f, _, kh, kw = kernel
        out = (n, f, _out(h, kh, stride), _out(width, kw, stride))
        word = "conv_2d_nchw_fchw"
    return w.named(f"{word} {attributes}", [image, filters], w.zeros(*out))


def softmax_of(w: Writer, value: str) -> str:
    """Return the softmax along the last axis."""
    shape = w.shapes[value]
    return w.named(f"softmax dimension({len(shape) - 1})", [value], w.empty(*shape))


def _out(size: int, kernel: int, stride: int) -> int:
    if size < kernel:
        raise BenchmarkInitError(f"an image of {size} is smaller than its filter of {kernel}")
    return (size - kernel) // stride + 1


def _matmul(w: Writer, m: int, n: int, k: int) -> str:
    a, b = w.argument(m, k), w.argument(k, n)
    return product(w, a, b)


def _batch_matmul(w: Writer, batch: int, m: int, n: int, k: int) -> str:
    a, b = w.argument(batch, m, k), w.argument(batch, k, n)
    return w.named("batch_matmul", [a, b], w.zeros(batch, m, n))


def _conv_nchw(w: Writer, n: int, c: int, h: int, wd: int, f: int, k: int, stride: int) -> str:
    return convolution(w, w.argument(n, c, h, wd), w.argument(f, c, k, k), stride)


def _conv_nhwc(w: Writer, n: int, h: int, wd: int, c: int, f: int, k: int, stride: int) -> str:
    return convolution(w, w.argument(n, h, wd, c), w.argument(k, k, c, f), stride, last=True)


def _depthwise(w: Writer, n: int, h: int, wd: int, c: int, k: int, stride: int) -> str:
    image, filters = w.argument(n, h, wd, c), w.argument(k, k, c)
    strides = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    out = w.zeros(n, _out(h, k, stride), _out(wd, k, stride), c)
    return w.named(f"depthwise_conv_2d_nhwc_hwc {strides}", [image, filters], out)


def _maxpool(w: Writer, n: int, c: int, h: int, wd: int, k: int, stride: int) -> str:
    image = w.argument(n, c, h, wd)
    window = w.empty(k, k)
    strides = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    out = w.filled(w.lowest(), n, c, _out(h, k, stride), _out(wd, k, stride))
    return w.named(f"pooling_nchw_max {strides}", [image, window], out)


def _add(w: Writer, *shape: int) -> str:
    return sum_of(w, w.argument(*shape), w.argument(*shape))


def _relu(w: Writer, *shape: int) -> str:
    return relu_of(w, w.argument(*shape))


def _reduce(w: Writer, m: int, n: int) -> str:
    value = w.argument(m, n)
    return w.generic(
        [(value, ["d0", "d1"])],
        (w.zeros(m), ["d0"]),
        ["d0", "d1"],
        ["%s = arith.addf %in0, %out : #", "linalg.yield %s : #"],
    )


def _softmax(w: Writer, m: int, n: int) -> str:
    return softmax_of(w, w.argument(m, n))


def _layernorm(w: Writer, m: int, n: int) -> str:
    value = w.argument(m, n)
    scale, shift = w.argument(n), w.argument(n)
    loops, rows = ["d0", "d1"], ["d0"]
    total = w.generic(
        [(value, loops)], (w.zeros(m), rows), loops,
        ["%s = arith.addf %in0, %out : #", "linalg.yield %s : #"],
    )  # fmt: skip
    count = w.number(n)
    centred = w.generic(
        [(value, loops), (total, rows)], (w.empty(m, n), loops), loops,
        [f"%q = arith.divf %in1, {count} : #", "%s = arith.subf %in0, %q : #",
         "linalg.yield %s : #"],
    )  # fmt: skip
    squares = w.generic(
        [(centred, loops)], (w.zeros(m), rows), loops,
        ["%q = arith.mulf %in0, %in0 : #", "%s = arith.addf %q, %out : #", "linalg.yield %s : #"],
    )  # fmt: skip
    small = w.number(1e-5)
    return w.generic(
        [(centred, loops), (squares, rows), (scale, ["d1"]), (shift, ["d1"])],
        (w.empty(m, n), loops), loops,
        [f"%v = arith.divf %in1, {count} : #", f"%e = arith.addf %v, {small} : #",
         "%r = math.sqrt %e : #", "%q = arith.divf %in0, %r : #", "%p = arith.mulf %q, %in2 : #",
         "%s = arith.addf %p, %in3 : #", "linalg.yield %s : #"],
    )  # fmt: skip


def _mlp(w: Writer, batch: int, inputs: int, hidden: int, outputs: int) -> str:
    x, first, bias = w.argument(batch, inputs), w.argument(inputs, hidden), w.argument(hidden)
    second = w.argument(hidden, outputs)
    return product(w, relu_of(w, biased(w, product(w, x, first), bias, 1)), second)


def _attention(w: Writer, heads: int, queries: int, keys: int, width: int) -> str:
    query, key = w.argument(heads, queries, width), w.argument(heads, width, keys)
    scores = w.named("batch_matmul", [query, key], w.zeros(heads, queries, keys))
    factor = w.number(width**-0.5)
    scaled = w.map([scores], [f"%s = arith.mulf %in0, {factor} : #", "linalg.yield %s : #"])
    return softmax_of(w, scaled)


def _resnet_block(w: Writer, channels: int, h: int, wd: int) -> str:
    """Two 3x3 convolutions and the way around them; the image comes with its border."""
    image = w.argument(1, channels, h + 4, wd + 4)
    around = w.argument(1, channels, h, wd)
    first, second = w.argument(channels, channels, 3, 3), w.argument(channels, channels, 3, 3)
    hidden = relu_of(w, convolution(w, image, first, 1))
    return relu_of(w, sum_of(w, convolution(w, hidden, second, 1), around))


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("matmul", ("m", "n", "k"), _matmul, "A matrix product.", (128, 128, 128)),
        Kernel("batch_matmul", ("b", "m", "n", "k"), _batch_matmul, "Several matrix products.",
               (8, 64, 64, 64)),
        Kernel("conv2d_nchw", ("n", "c", "h", "w", "f", "k", "stride"), _conv_nchw,
               "A 2-D convolution, channels first; h and w hold the border.",
               (1, 32, 30, 30, 32, 3, 1)),
        Kernel("conv2d_nhwc", ("n", "h", "w", "c", "f", "k", "stride"), _conv_nhwc,
               "A 2-D convolution, channels last.", (1, 30, 30, 32, 32, 3, 1)),
        Kernel("depthwise", ("n", "h", "w", "c", "k", "stride"), _depthwise,
               "A 2-D convolution of every channel alone, channels last.", (1, 30, 30, 64, 3, 1)),
        Kernel("maxpool", ("n", "c", "h", "w", "k", "stride"), _maxpool,
               "The largest of each window.", (1, 32, 58, 58, 2, 2)),
        Kernel("add", ("m", "n"), _add, "An element-wise sum, of any rank.", (512, 512)),
        Kernel("relu", ("m", "n"), _relu, "The positive part, of any rank.", (512, 512)),
        Kernel("reduce", ("m", "n"), _reduce, "The sums of rows.", (512, 512)),
        Kernel("softmax", ("m", "n"), _softmax, "The softmax of rows.", (256, 256)),
        Kernel("layernorm", ("m", "n"), _layernorm, "The layer norm of rows.", (256, 256)),
        Kernel("mlp", ("batch", "in", "hidden", "out"), _mlp,
               "A product, a bias, a positive part and a product.", (64, 128, 128, 64)),
        Kernel("attention", ("heads", "queries", "keys", "width"), _attention,
               "The scores of attention: product, scale, softmax.", (4, 64, 64, 32)),
        Kernel("resnet_block", ("c", "h", "w"), _resnet_block,
               "Two 3x3 convolutions with the way around them.", (32, 14, 14)),
    )
}  # fmt: skip
"""Every kernel by its name."""
