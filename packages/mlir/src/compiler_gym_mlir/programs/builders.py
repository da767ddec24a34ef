# SPDX-License-Identifier: MIT
"""Write kernels as functions of linalg on tensors.

A kernel is a name and sizes, as in ``matmul/512x512x512``. Each takes its operands and returns a
new result. This module writes text and does not load MLIR.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compiler_gym.errors import BenchmarkInitError, unknown_name
from compiler_gym_mlir.programs.networks import mobilenet_v2, resnet18, vgg16
from compiler_gym_mlir.programs.writing import (
    MOST_ELEMENTS,
    Writer,
    add_bias,
    convolution,
    count_elements,
    out_size,
    product,
    write_relu,
    write_softmax,
    write_sum,
)

__all__ = ["KERNELS", "Kernel", "build"]

_ANY_RANK = ("add", "relu")
_HIGHEST_RANK = 6


@dataclass(frozen=True, slots=True)
class Kernel:
    """One kind of kernel: the names of its sizes, and the function that writes it."""

    name: str
    sizes: tuple[str, ...]
    write: Callable[..., str]
    description: str
    default: tuple[int, ...]
    """The sizes of the listed benchmark."""


def build(name: str, sizes: Sequence[int], element: str = "f32") -> str:
    """Return the kernel `name` of `sizes` as text.

    Raises `BenchmarkInitError` for an unknown kernel or type, or a wrong number of sizes.
    """
    kernel = KERNELS.get(name)
    if kernel is None:
        raise BenchmarkInitError(unknown_name("kernel", name, KERNELS))
    fits = len(sizes) == len(kernel.sizes)
    if name in _ANY_RANK:
        fits = 1 <= len(sizes) <= _HIGHEST_RANK
    if not fits or min(sizes) < 1:
        raise BenchmarkInitError(
            f"{name} needs {len(kernel.sizes)} sizes ({'x'.join(kernel.sizes)}) of at least 1, "
            f"as in {name}/{'x'.join(map(str, kernel.default))} "
            f"(got {'x'.join(map(str, sizes)) or 'none'})"
        )
    if element not in ("f32", "f64") and not (name == "matmul" and element in ("i32", "i64")):
        raise BenchmarkInitError(
            f"{name} does not support {element}: use type=f32 or type=f64"
            " (or i32 and i64 for matmul)"
        )
    writer = Writer(element)
    result = kernel.write(writer, *sizes)
    text = writer.text(result)
    largest = max(count_elements(shape) for shape in writer.shapes.values())
    if largest > MOST_ELEMENTS:
        raise BenchmarkInitError(f"{name}: a tensor has more than {MOST_ELEMENTS} elements")
    return text


def _build_matmul(w: Writer, m: int, n: int, k: int) -> str:
    a, b = w.argument(m, k), w.argument(k, n)
    return product(w, a, b)


def _batch_matmul(w: Writer, batch: int, m: int, n: int, k: int) -> str:
    a, b = w.argument(batch, m, k), w.argument(batch, k, n)
    return w.write_named("batch_matmul", [a, b], w.zeros(batch, m, n))


def _conv_nchw(w: Writer, n: int, c: int, h: int, wd: int, f: int, k: int, stride: int) -> str:
    return convolution(w, w.argument(n, c, h, wd), w.argument(f, c, k, k), stride)


def _conv_nhwc(w: Writer, n: int, h: int, wd: int, c: int, f: int, k: int, stride: int) -> str:
    return convolution(w, w.argument(n, h, wd, c), w.argument(k, k, c, f), stride, last=True)


def _build_depthwise(w: Writer, n: int, h: int, wd: int, c: int, k: int, stride: int) -> str:
    image, filters = w.argument(n, h, wd, c), w.argument(k, k, c)
    strides = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    out = w.zeros(n, out_size(h, k, stride), out_size(wd, k, stride), c)
    return w.write_named(f"depthwise_conv_2d_nhwc_hwc {strides}", [image, filters], out)


def _maxpool(w: Writer, n: int, c: int, h: int, wd: int, k: int, stride: int) -> str:
    image = w.argument(n, c, h, wd)
    window = w.empty(k, k)
    strides = f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    out = w.fill(w.lowest(), n, c, out_size(h, k, stride), out_size(wd, k, stride))
    return w.write_named(f"pooling_nchw_max {strides}", [image, window], out)


def _build_add(w: Writer, *shape: int) -> str:
    return write_sum(w, w.argument(*shape), w.argument(*shape))


def _relu(w: Writer, *shape: int) -> str:
    return write_relu(w, w.argument(*shape))


def _reduce(w: Writer, m: int, n: int) -> str:
    value = w.argument(m, n)
    return w.generic(
        [(value, ["d0", "d1"])],
        (w.zeros(m), ["d0"]),
        ["d0", "d1"],
        ["%s = arith.addf %in0, %out : #", "linalg.yield %s : #"],
    )


def _softmax(w: Writer, m: int, n: int) -> str:
    return write_softmax(w, w.argument(m, n))


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
    return product(w, write_relu(w, add_bias(w, product(w, x, first), bias, 1)), second)


def _attention(w: Writer, heads: int, queries: int, keys: int, width: int) -> str:
    query, key = w.argument(heads, queries, width), w.argument(heads, width, keys)
    scores = w.write_named("batch_matmul", [query, key], w.zeros(heads, queries, keys))
    factor = w.number(width**-0.5)
    scaled = w.map([scores], [f"%s = arith.mulf %in0, {factor} : #", "linalg.yield %s : #"])
    return write_softmax(w, scaled)


def _resnet_block(w: Writer, channels: int, h: int, wd: int) -> str:
    """Write two 3x3 convolutions and a shortcut; the image includes its border."""
    image = w.argument(1, channels, h + 4, wd + 4)
    shortcut = w.argument(1, channels, h, wd)
    first, second = w.argument(channels, channels, 3, 3), w.argument(channels, channels, 3, 3)
    hidden = write_relu(w, convolution(w, image, first, 1))
    return write_relu(w, write_sum(w, convolution(w, hidden, second, 1), shortcut))


KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("matmul", ("m", "n", "k"), _build_matmul, "A matrix product.", (128, 128, 128)),
        Kernel("batch_matmul", ("b", "m", "n", "k"), _batch_matmul, "Several matrix products.",
               (8, 64, 64, 64)),
        Kernel("conv2d_nchw", ("n", "c", "h", "w", "f", "k", "stride"), _conv_nchw,
               "A 2-D convolution, channels first; h and w include the border.",
               (1, 32, 30, 30, 32, 3, 1)),
        Kernel("conv2d_nhwc", ("n", "h", "w", "c", "f", "k", "stride"), _conv_nhwc,
               "A 2-D convolution, channels last.", (1, 30, 30, 32, 32, 3, 1)),
        Kernel("depthwise", ("n", "h", "w", "c", "k", "stride"), _build_depthwise,
               "A 2-D convolution of each channel, channels last.", (1, 30, 30, 64, 3, 1)),
        Kernel("maxpool", ("n", "c", "h", "w", "k", "stride"), _maxpool,
               "The maximum of each window.", (1, 32, 58, 58, 2, 2)),
        Kernel("add", ("m", "n"), _build_add, "An element-wise sum of any rank.", (512, 512)),
        Kernel("relu", ("m", "n"), _relu, "A ReLU of any rank.", (512, 512)),
        Kernel("reduce", ("m", "n"), _reduce, "The sums of rows.", (512, 512)),
        Kernel("softmax", ("m", "n"), _softmax, "The softmax of rows.", (256, 256)),
        Kernel("layernorm", ("m", "n"), _layernorm, "The layer norm of rows.", (256, 256)),
        Kernel("mlp", ("batch", "in", "hidden", "out"), _mlp,
               "A product, a bias, a ReLU and a product.", (64, 128, 128, 64)),
        Kernel("attention", ("heads", "queries", "keys", "width"), _attention,
               "Attention scores: product, scale, softmax.", (4, 64, 64, 32)),
        Kernel("resnet_block", ("c", "h", "w"), _resnet_block,
               "Two 3x3 convolutions with a shortcut.", (32, 14, 14)),
        Kernel("resnet18", ("image",), resnet18, "ResNet-18, for one image.", (32,)),
        Kernel("vgg16", ("image",), vgg16, "VGG-16, for one image.", (32,)),
        Kernel("mobilenet_v2", ("image",), mobilenet_v2, "MobileNet-V2, for one image.", (32,)),
    )
}  # fmt: skip
"""Every kernel by name."""
