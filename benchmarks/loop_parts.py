# SPDX-License-Identifier: MIT
"""Convolutions and softmax's parts as loop nests, against the best of numpy and PyTorch.

The schedules are stated here, not searched. PyTorch is compared with where it is installed
(`pip install torch`), in each memory layout that it has for a convolution, with its weights laid
out before; numpy multiplies windows of the input by the weights. One thread, processor time, in
turns, the median of the ratios.
"""

import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.measure import Figure
from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.jit import vector_lanes
from compiler_gym_loop_tool.programs.layers import LAYERS
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.reference import random_inputs
from compiler_gym_loop_tool.state.tree import Loop, Tree, initial_tree, settle_nodes
from compiler_gym_loop_tool.toolchain.code.compiled import compile_nest

ROUNDS = 15

Call = Callable[[], object]

_CONVOLUTIONS = (
    *("resnet50-conv1", "resnet50-conv2-3x3", "resnet50-conv3-first-3x3", "resnet50-conv3-3x3"),
    *("resnet50-conv2-expand", "resnet50-conv5-3x3"),
)
_ROWS = ((128, 512), (1536, 128), (1024, 1000))
"""Of softmax: the shape of the guide, BERT-base's, and the classes of ImageNet."""


def figures() -> list[Figure]:
    """Return every ratio: above 1, the nest is faster than the best of the others."""
    if (torch := _torch()) is not None:
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
    return [
        *(_convolution(name, *LAYERS[name]) for name in _CONVOLUTIONS),
        _convolution("conv2d 28x28x32", "conv2d", ""),
        _convolution("depthwise 28x28x64", "depthwise", ""),
        *(figure for shape in _ROWS for figure in _softmax(*shape)),
    ]


def chain(program: Program, *words: str) -> Tree:
    """Return the tree of one statement whose loops are ``"DIM STEP NOTES"`` from outside on.

    Notes are ``unroll``, ``vectorise`` and ``pack=TENSOR``.
    """
    node: Loop | int = 0
    for word in reversed(words):
        dim, step, *notes = word.split()
        packs = tuple(note.removeprefix("pack=") for note in notes if "=" in note)
        node = Loop(
            dim, 0, int(step), (node,),
            unroll="unroll" in notes, vectorise="vectorise" in notes, packs=packs,
        )  # fmt: skip
    return Tree(program, settle_nodes((node,), program.dims))


def convolution(program: Program, columns: int, vectors: int) -> Tree:
    """Sums of `columns` neighbours in x times `vectors` vectors of features, in registers.

    The weights of those features are copied once, and stay in a cache.
    """
    lanes = vectors * vector_lanes()
    return chain(
        program,
        *(f"f {lanes} pack=W", "n 1", "y 1", f"x {columns}", "r 1", "s 1", "c 1"),
        *("x 1 unroll", "f 1 vectorise"),
    )


def depthwise(program: Program, columns: int, vectors: int) -> Tree:
    """The same for each channel by itself: the whole window is written out."""
    lanes = vectors * vector_lanes()
    return chain(
        program,
        *(f"c {lanes}", "n 1", "y 1", f"x {columns}", "r 1 unroll", "s 1 unroll"),
        *("x 1 unroll", "c 1 vectorise"),
    )


def _convolution(name: str, kind: str, words: str) -> Figure:
    program = parse_program(describe(kind, words))
    schedule = depthwise if kind == "depthwise" else convolution
    shapes = ((4, 2), (7, 2), (4, 4), (6, 4)) if vector_lanes() >= 16 else ((4, 2), (6, 2), (7, 1))
    ours: list[Call] = [compile_nest(schedule(program, *shape)).call.run for shape in shapes]
    inputs = random_inputs(program)
    stride = 2 if kind.endswith("stride2") else 1
    theirs = {"numpy": _numpy_convolution(inputs["X"], inputs["W"], stride)}
    if (torch := _torch()) is not None:
        theirs |= _torch_convolutions(torch, inputs["X"], inputs["W"], stride)
    return _race(name, ours, theirs)


def _numpy_convolution(x: Any, w: Any, stride: int) -> Call:
    def run() -> object:
        windows = sliding_window_view(x, w.shape[:2], axis=(1, 2))[:, ::stride, ::stride]
        if w.ndim == 3:
            return np.einsum("nyxcrs,rsc->nyxc", windows, w, optimize=True)
        return np.tensordot(windows, w.transpose(2, 0, 1, 3), 3)

    return run


def _torch() -> Any:
    """Return PyTorch, or None where it is not installed."""
    return None if find_spec("torch") is None else import_module("torch")


def _torch_convolutions(torch: Any, x: Any, w: Any, stride: int) -> dict[str, Call]:
    """Return PyTorch's ways: channels first, channels last, and oneDNN's own layouts."""
    convolve = torch.nn.functional.conv2d
    images = torch.from_numpy(x).permute(0, 3, 1, 2)
    groups = 1 if w.ndim == 4 else w.shape[2]
    kernels = torch.from_numpy(w if w.ndim == 4 else w[:, :, None]).permute(3, 2, 0, 1)
    calls: dict[str, Call] = {}
    for layout in (torch.contiguous_format, torch.channels_last):
        image, kernel = (one.contiguous(memory_format=layout) for one in (images, kernels))
        calls[f"PyTorch, {layout}"] = lambda a=image, b=kernel: convolve(
            a, b, stride=stride, groups=groups
        )
    if torch.backends.mkldnn.is_available():
        ways = ((0, 0), (stride, stride), (1, 1), groups)
        image = images.contiguous().to_mkldnn()
        kernel = torch._C._nn.mkldnn_reorder_conv2d_weight(
            kernels.contiguous().to_mkldnn(), *ways, image.shape
        )
        calls["PyTorch, oneDNN"] = lambda: torch.mkldnn_convolution(image, kernel, None, *ways)
    return calls


def _softmax(m: int, n: int) -> list[Figure]:
    draw = np.random.default_rng(0)
    x, row = draw.random((m, n), np.float32), draw.random(m, np.float32) + 1
    out, short = np.empty_like(x), np.empty(m, np.float32)
    theirs: dict[str, dict[str, Call]] = {
        "row_max": {"numpy": lambda: x.max(axis=1, out=short)},
        "exp_sub": {"numpy": lambda: np.exp(np.subtract(x, row[:, None], out=out), out=out)},
        "sum": {"numpy": lambda: x.sum(axis=1, out=short)},
        "scale_rows": {"numpy": lambda: np.divide(x, row[:, None], out=out)},
        "softmax": {"numpy": lambda: _numpy_softmax(x, out)},
    }
    if (torch := _torch()) is not None:
        for kind, call in _torch_softmax(torch, x, row).items():
            theirs[kind]["PyTorch"] = call
    found: list[Figure] = []
    for kind, calls in theirs.items():
        sizes = f"m={m},k={n}" if kind in ("row_max", "sum") else f"m={m},n={n}"
        tree = initial_tree(parse_program(describe(kind, sizes)))
        while kind == "softmax" and len(tree.roots) > 1:
            tree = changes.fuse(tree, (0,))  # a row after the other, so that it stays in a cache
        found.append(_race(f"{kind} {m}x{n}", [compile_nest(tree).call.run], calls))
    return found


def _numpy_softmax(x: Any, out: Any) -> object:
    np.subtract(x, x.max(axis=1, keepdims=True), out=out)
    np.exp(out, out=out)
    return np.divide(out, out.sum(axis=1, keepdims=True), out=out)


def _torch_softmax(torch: Any, x: Any, row: Any) -> dict[str, Call]:
    whole, each = torch.from_numpy(x), torch.from_numpy(row)[:, None]
    out, short = torch.empty_like(whole), torch.empty(len(x))
    return {
        "row_max": lambda: torch.amax(whole, 1, out=short),
        "exp_sub": lambda: torch.exp(torch.sub(whole, each, out=out), out=out),
        "sum": lambda: torch.sum(whole, 1, out=short),
        "scale_rows": lambda: torch.div(whole, each, out=out),
        "softmax": lambda: torch.softmax(whole, 1, out=out),
    }


def _race(name: str, ours: list[Call], theirs: Mapping[str, Call]) -> Figure:
    """Return how many times as fast the best of ours is as the best of theirs."""
    our_best = min(ours, key=_fastest)
    who = min(theirs, key=lambda one: _fastest(theirs[one]))
    repeats = {run: max(1, int(0.003 / _seconds(run, 1))) for run in (our_best, theirs[who])}
    ratios = [
        _seconds(theirs[who], repeats[theirs[who]]) / _seconds(our_best, repeats[our_best])
        for _ in range(ROUNDS)
    ]
    label = f"{name}, against {who.partition(',')[0]}"
    return Figure(label, median(ratios), "x", 1.0, "at least")


def _fastest(run: Call) -> float:
    repeats = max(1, int(0.002 / _seconds(run, 1)))
    return min(_seconds(run, repeats) for _ in range(5))


def _seconds(run: Call, repeats: int) -> float:
    run()
    began = time.thread_time()
    for _ in range(repeats):
        run()
    return max(time.thread_time() - began, 1e-9) / repeats
