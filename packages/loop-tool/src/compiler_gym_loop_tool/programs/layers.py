# SPDX-License-Identifier: MIT
"""The layers of known networks by name: published sizes as one-line descriptions.

ResNet-50: He et al., 2016, table 1; the input of a convolution is padded before it, so a layer's
X includes the padding. BERT-base: Devlin et al., 2019; 12 heads of 64, 768 wide.
"""

from collections.abc import Mapping

__all__ = ["HELD_OUT", "LAYERS"]


def _conv(kind: str, size: int, features: int, kernel: int, channels: int) -> tuple[str, str]:
    sizes = f"n=1,y={size},x={size},f={features},r={kernel},s={kernel},c={channels}"
    return kind, sizes


def _matmul_layer(m: int, n: int, k: int) -> tuple[str, str]:
    return "matmul", f"m={m},n={n},k={k}"


_resnet: dict[str, tuple[str, str]] = {"resnet50-conv1": _conv("conv2d_stride2", 112, 64, 7, 3)}
for _stage, _size, _narrow, _before in (
    (2, 56, 64, 64),
    (3, 28, 128, 256),
    (4, 14, 256, 512),
    (5, 7, 512, 1024),
):
    _wide = 4 * _narrow
    _name = f"resnet50-conv{_stage}"
    _kind = "conv2d" if _stage == 2 else "conv2d_stride2"
    _resnet |= {
        f"{_name}-first-1x1": _conv("conv2d", _size, _narrow, 1, _before)
        if _stage == 2
        else _conv("conv2d", 2 * _size, _narrow, 1, _before),
        f"{_name}-first-3x3": _conv(_kind, _size, _narrow, 3, _narrow),
        f"{_name}-shortcut": _conv(_kind, _size, _wide, 1, _before),
        f"{_name}-reduce": _conv("conv2d", _size, _narrow, 1, _wide),
        f"{_name}-3x3": _conv("conv2d", _size, _narrow, 3, _narrow),
        f"{_name}-expand": _conv("conv2d", _size, _wide, 1, _narrow),
    }
_resnet["resnet50-classes"] = _matmul_layer(1, 1000, 2048)

LAYERS: Mapping[str, tuple[str, str]] = {
    **_resnet,
    "bert-base-query": _matmul_layer(128, 768, 768),
    "bert-base-scores": ("einsum", "hqd,hjd->hqj/h=12,q=128,j=128,d=64"),
    "bert-base-softmax": ("softmax", "m=1536,n=128"),
    "bert-base-context": ("einsum", "hqj,hje->hqe/h=12,q=128,j=128,e=64"),
    "bert-base-attention-head": ("attention", "q=128,j=128,d=64,e=64"),
    "bert-base-output": _matmul_layer(128, 768, 768),
    "bert-base-feed-forward-1": _matmul_layer(128, 3072, 768),
    "bert-base-feed-forward-2": _matmul_layer(128, 768, 3072),
    "mlp-mnist-1": ("dense", "m=64,n=512,k=784"),
    "mlp-mnist-2": ("dense", "m=64,n=512,k=512"),
    "mlp-mnist-3": _matmul_layer(64, 10, 512),
    "mlp-mixer-tokens": ("dense", "m=768,n=384,k=196"),
    "mlp-mixer-channels": ("dense", "m=196,n=3072,k=768"),
}
"""Kind and sizes for `compiler_gym_loop_tool.state.descriptions.describe`, by name."""

HELD_OUT = (
    "64x240x64 80x176x224 96x160x256 96x224x240 96x240x128 112x208x256 112x224x128 112x256x64 "
    "112x256x80 128x160x224 160x224x192 176x128x160 176x144x160 176x192x160 192x192x80 "
    "192x256x256 208x80x224 208x128x256 208x160x80 224x64x240 224x112x176 224x208x224 "
    "224x224x256 240x208x144 256x160x112"
).split()
"""The m, n and k of the 25 matmuls of LoopTune's test set, as in its published results
(github.com/loopstack/looptune), in the order of their names there."""
