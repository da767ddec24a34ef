# SPDX-License-Identifier: MIT
"""Whole networks as one function: ResNet-18, VGG-16 and MobileNet-V2, inference on one image.

The layers are those of torchvision's models of these names. A batch normalisation has its form at
inference, a factor and an offset per channel; the factor is a constant that keeps the sums of
random inputs in range. Weights are arguments, like all operands. This module does not load MLIR.
"""

from compiler_gym_mlir.programs.writing import (
    Writer,
    add_bias,
    convolution,
    product,
    write_relu,
    write_sum,
)

__all__ = ["mobilenet_v2", "resnet18", "vgg16"]

_CLASSES = 1000
_MOBILE = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
           (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip
"""Expansion, channels, blocks, and the stride of the first: table 2 of Sandler et al., 2018."""
_VGG = (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0)
"""Filters of each layer, or 0 for pooling: configuration D of Simonyan and Zisserman, 2014."""


def resnet18(w: Writer, image: int) -> str:
    """Return the class scores of an image of `image` x `image`."""
    value = write_relu(w, _layer(w, w.argument(1, 3, image, image), 64, 7, 2))
    value = _max_pool(w, _frame(w, value, 1), 3)
    for stage, filters in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage and not block else 1
            shortcut = _layer(w, value, filters, 1, 2) if stride == 2 else value
            hidden = write_relu(w, _layer(w, value, filters, 3, stride))
            value = write_relu(w, write_sum(w, _layer(w, hidden, filters, 3), shortcut))
    return _dense_layer(w, _mean(w, value), _CLASSES)


def vgg16(w: Writer, image: int) -> str:
    """Return the class scores of an image of `image` x `image`, a multiple of 32."""
    value = w.argument(1, 3, image, image)
    for filters in _VGG:
        value = write_relu(w, _layer(w, value, filters, 3)) if filters else _max_pool(w, value, 2)
    _, channels, high, wide = w.shapes[value]
    value = w.reshape(value, 1, channels * high * wide)
    for _ in range(2):
        value = write_relu(w, _dense_layer(w, value, 4096))
    return _dense_layer(w, value, _CLASSES)


def mobilenet_v2(w: Writer, image: int) -> str:
    """Return the class scores of an image of `image` x `image`."""
    value = _clip_negative(w, _layer(w, w.argument(1, 3, image, image), 32, 3, 2))
    for expansion, filters, blocks, first in _MOBILE:
        for block in range(blocks):
            stride, start = (1 if block else first), value
            channels = w.shapes[value][1]
            if expansion > 1:
                value = _clip_negative(w, _layer(w, value, expansion * channels, 1))
            value = _layer(w, _clip_negative(w, _depthwise_layer(w, value, stride)), filters, 1)
            if stride == 1 and channels == filters:
                value = write_sum(w, start, value)
    return _dense_layer(w, _mean(w, _clip_negative(w, _layer(w, value, 1280, 1))), _CLASSES)


def _layer(w: Writer, value: str, filters: int, kernel: int, stride: int = 1) -> str:
    channels = w.shapes[value][1]
    weights = w.argument(filters, channels, kernel, kernel)
    result = convolution(w, _frame(w, value, kernel // 2), weights, stride)
    return _normalise(w, result, channels * kernel * kernel)


def _depthwise_layer(w: Writer, value: str, stride: int) -> str:
    framed = _frame(w, value, 1)
    _, channels, high, wide = w.shapes[framed]
    out = w.zeros(1, channels, (high - 3) // stride + 1, (wide - 3) // stride + 1)
    attributes = (
        f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}"
    )
    name = f"depthwise_conv_2d_nchw_chw {attributes}"
    return _normalise(w, w.write_named(name, [framed, w.argument(channels, 3, 3)], out), 9)


def _dense_layer(w: Writer, value: str, outputs: int) -> str:
    inputs = w.shapes[value][1]
    return _normalise(w, product(w, value, w.argument(inputs, outputs)), inputs)


def _normalise(w: Writer, value: str, terms: int) -> str:
    factor = w.number(terms**-0.5)
    lines = [f"%s = arith.mulf %in0, {factor} : #", "linalg.yield %s : #"]
    return add_bias(w, w.map([value], lines), w.argument(w.shapes[value][1]), 1)


def _clip_negative(w: Writer, value: str) -> str:
    """Return the ReLU6 of `value`."""
    most = w.number(6)
    lines = [f"%s = arith.minimumf %in0, {most} : #", "linalg.yield %s : #"]
    return w.map([write_relu(w, value)], lines)


def _frame(w: Writer, value: str, border: int) -> str:
    return w.pad(value, (0, 0, border, border)) if border else value


def _max_pool(w: Writer, value: str, kernel: int) -> str:
    """Return the maximum of each window, with stride 2."""
    _, channels, high, wide = w.shapes[value]
    attributes = "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}"
    sizes = (1, channels, (high - kernel) // 2 + 1, (wide - kernel) // 2 + 1)
    out = w.fill(w.lowest(), *sizes)
    return w.write_named(f"pooling_nchw_max {attributes}", [value, w.empty(kernel, kernel)], out)


def _mean(w: Writer, value: str) -> str:
    """Return the mean of each channel, as a row."""
    _, channels, high, wide = w.shapes[value]
    loops = ["d0", "d1", "d2", "d3"]
    lines = ["%s = arith.addf %in0, %out : #", "linalg.yield %s : #"]
    total = w.generic([(value, loops)], (w.zeros(1, channels), loops[:2]), loops, lines)
    factor = w.number(1 / (high * wide))
    return w.map([total], [f"%s = arith.mulf %in0, {factor} : #", "linalg.yield %s : #"])
