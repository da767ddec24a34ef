# SPDX-License-Identifier: MIT
"""Kernels by the network layer that they implement (ResNet-18, VGG-11, MobileNet-V1), and the
evaluation programs in the artifact of MLIR-RL.

Images include their borders, because convolutions here do not pad: a 3x3 layer of 56x56 takes
58x58. Sizes are those of the papers, for one image of 224x224.
"""

from collections.abc import Mapping

__all__ = ["LAYERS"]

Shape = tuple[str, tuple[int, ...]]


def _conv(channels: int, size: int, filters: int, kernel: int, stride: int = 1) -> Shape:
    border = kernel - 1 if kernel > 1 else 0
    return "conv2d_nchw", (1, channels, size + border, size + border, filters, kernel, stride)


def _pool(channels: int, size: int) -> Shape:
    return "maxpool", (1, channels, size, size, 2, 2)


def _dense_shape(inputs: int, outputs: int) -> Shape:
    return "matmul", (1, outputs, inputs)


def _depthwise_shape(channels: int, size: int, stride: int) -> Shape:
    return "depthwise", (1, size + 2, size + 2, channels, 3, stride)


def _resnet18() -> dict[str, Shape]:
    layers = {"conv1": _conv(3, 224, 64, 7, 2), "pool": ("maxpool", (1, 64, 114, 114, 3, 2))}
    channels, size = 64, 56
    for stage, filters in enumerate((64, 128, 256, 512), 2):
        stride = 1 if stage == 2 else 2
        layers[f"conv{stage}_1"] = _conv(channels, size, filters, 3, stride)
        if stride == 2:
            layers[f"conv{stage}_shortcut"] = _conv(channels, size, filters, 1, 2)
        size //= stride
        layers[f"conv{stage}_2"] = _conv(filters, size, filters, 3)
        channels = filters
    return {**layers, "dense": _dense_shape(512, 1000)}


def _vgg11() -> dict[str, Shape]:
    layers: dict[str, Shape] = {}
    channels, size = 3, 224
    for stage, (filters, count) in enumerate(((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)), 1):
        for number in range(1, count + 1):
            layers[f"conv{stage}_{number}"] = _conv(channels, size, filters, 3)
            channels = filters
        layers[f"pool{stage}"] = _pool(channels, size)
        size //= 2
    return {
        **layers,
        "dense1": _dense_shape(25088, 4096),
        "dense2": _dense_shape(4096, 4096),
        "dense3": _dense_shape(4096, 1000),
    }


def _mobilenet() -> dict[str, Shape]:
    layers: dict[str, Shape] = {"conv1": _conv(3, 224, 32, 3, 2)}
    channels, size = 32, 112
    blocks = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (1024, 2),
              (1024, 1))  # fmt: skip
    for number, (filters, stride) in enumerate(blocks, 1):
        layers[f"depthwise{number}"] = _depthwise_shape(channels, size, stride)
        size //= stride
        layers[f"pointwise{number}"] = _conv(channels, size, filters, 1)
        channels = filters
    return {**layers, "dense": _dense_shape(1024, 1000)}


_MLIR_RL: dict[str, Shape] = {
    "add_256_14_14_88": ("add", (256, 14, 14, 88)),
    "add_256_42_42_168": ("add", (256, 42, 42, 168)),
    "add_256_7_7_2048": ("add", (256, 7, 7, 2048)),
    "conv_2d_nchw_fchw_256_128_28_28_512_1_1": ("conv2d_nchw", (256, 128, 28, 28, 512, 1, 1)),
    "conv_2d_nchw_fchw_256_512_28_28_128_1_1": ("conv2d_nchw", (256, 512, 28, 28, 128, 1, 1)),
    "conv_2d_nchw_fchw_256_64_56_56_256_1_1": ("conv2d_nchw", (256, 64, 56, 56, 256, 1, 1)),
    "matmul_256_1536_1000": ("matmul", (256, 1000, 1536)),
    "matmul_256_256_128": ("matmul", (256, 128, 256)),
    "matmul_256_256_512": ("matmul", (256, 512, 256)),
    "matmul_256_512_1024": ("matmul", (256, 1024, 512)),
    "pooling_nchw_max_256_336_43_43_3": ("maxpool", (256, 336, 43, 43, 3, 2)),
    "pooling_nchw_max_256_64_114_114_3": ("maxpool", (256, 64, 114, 114, 3, 2)),
    "pooling_nchw_max_256_64_147_147_3": ("maxpool", (256, 64, 147, 147, 3, 2)),
    "relu_256_100": ("relu", (256, 100)),
    "relu_256_512": ("relu", (256, 512)),
    "relu_256_57_57_64": ("relu", (256, 57, 57, 64)),
    "model_res_net": ("resnet18", (224,)),
    "model_vgg": ("vgg16", (224,)),
    "model_mobile_net_v2": ("mobilenet_v2", (224,)),
}
"""19 of MLIR-RL's 22 evaluation programs, by the names in ``data/execution_times_eval.json``, with
the models of ``paper/eval_torch.py`` (github.com/mohph197/MLIR-RL-artifact). The other three,
``hexaquark_hexaquark_12_rewrite``, ``dibaryon_dibaryon_24`` and ``dibaryon_hexaquark_32`` from
lattice QCD, are only in an archive next to that repository. It writes a product as m, k, n."""

LAYERS: Mapping[str, Mapping[str, Shape]] = {
    "resnet18": _resnet18(),
    "vgg11": _vgg11(),
    "mobilenet": _mobilenet(),
    "mlir-rl": _MLIR_RL,
}
"""The kernel and the sizes of each layer, by network; repeated layers are listed once."""
