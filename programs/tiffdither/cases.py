# SPDX-License-Identifier: MIT
"""Inputs of tiffdither: grey images of every depth, thresholds, fax codecs, and refusals."""

from pathlib import Path

from _cases import Case, Random, load

__all__ = ["COUNTS", "case"]

images = load("_tiff_images", Path(__file__).parent.parent / "_tiff" / "images.py")

LAYOUTS = (
    {},
    {"compression": 32773, "rows_per_strip": 7},
    {"compression": 5, "predictor": 2, "rows_per_strip": 16},
    {"compression": 8, "deflate_kind": "fixed", "predictor": 2},
    {"compression": 8, "deflate_kind": "dynamic", "rows_per_strip": 20, "big_endian": True},
    {"compression": 8, "deflate_kind": "stored", "big_endian": True},
    {"tile": (16, 16), "compression": 5, "big_endian": True},
    {"tile": (32, 16), "compression": 32773},
    {"planar": 2, "compression": 5, "rows_per_strip": 11},
    {"planar": 2, "tile": (16, 32), "big_endian": True},
    {"compression": 5, "old_lzw": True},
)

COUNTS = {"test": 39, "small": 4, "ref": 2}

KINDS = ("black", "white", "grey16", "grey4", "grey2")
CODECS = (
    (),
    ("-c", "none"),
    ("-c", "g3"),
    ("-c", "g3:2d"),
    ("-c", "g3:2d:fill"),
    ("-c", "g3:1d:fill", "-f", "lsb2msb"),
    ("-c", "g4"),
    ("-c", "g4", "-f", "lsb2msb"),
    ("-c", "huffman"),
    ("-c", "lzw"),
    ("-c", "zip"),
)

_NOISE = 34


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of tiffdither."""
    seed = rng.below(1000)
    if size != "test":
        width, repeat = {"small": (600, 11), "ref": (900, 96)}[size]
        made = images.raster(
            "black", width, 100, seed, repeat=repeat, compression=(32773, 1)[index % 2]
        )
        return _case(images.build(made), *CODECS[(6, 3, 8, 10)[index]])
    if index == _NOISE:
        noise = list(rng.data(60 * 50 * 1))
        return _case(images.build(images.raster("black", 60, 50, seed, values=noise)), "-c", "zip")
    if index >= 35:
        return _lzw_edge(images.LZW_EDGES[index - 35], rng)
    width, height = rng.between(20, 90), rng.between(20, 60)
    if index < len(LAYOUTS):
        layout = {**LAYOUTS[index], "planar": 1}
        kind = KINDS[index % len(KINDS)]
        if images.KINDS[kind][2] < 8:
            layout["predictor"] = 1
        return _case(
            images.build(images.raster(kind, width, height, seed, **layout)), *CODECS[index]
        )
    if index < 24:
        made = images.raster(rng.choice(KINDS), width, height, seed, compression=rng.choice((1, 5)))
        options = ("-t", str(rng.below(256)), "-r", str(rng.between(1, 40)))
        return _case(images.build(made), *options, *rng.choice(CODECS))
    return _unusual(index - 24, width, height, seed)


def _lzw_edge(learnt: int, rng: Random) -> Case:
    """Black and white as they are, so that the bits of the output are known."""
    rows = images.lzw_edge(learnt, rng.below, lambda sample: bytes([sample]))
    dots = [255 * (row >> bit & 1) for row in rows for bit in range(7, -1, -1)]
    return _case(images.build(images.raster("black", len(dots), 1, 0, values=dots)), "-c", "lzw")


def _unusual(kind: int, width: int, height: int, seed: int) -> Case:
    plain = images.build(images.raster("black", width, height, seed, compression=32773))
    if kind == 0:
        return _case(images.build(images.raster("black", 6000, 6, seed)), "-c", "g3:2d")
    if kind == 1:
        return _case(
            images.build(images.raster("white", 5400, 5, seed, values=[0] * 27000)), "-c", "g3"
        )
    if kind == 2:
        return _case(images.build(images.raster("black", 1, 1, seed)), "-c", "g4")
    if kind == 3:
        return _case(images.build(images.raster("black", 2, 70, seed)), "-c", "huffman", "-r", "1")
    if kind == 4:
        return _case(images.build(images.raster("rgb", width, height, seed)))
    if kind == 5:
        return _case(images.build(images.raster("palette8", width, height, seed)))
    if kind == 6:
        return _case(images.build(images.raster("bilevel", width, height, seed, compression=4)))
    if kind == 7:
        return _case(plain, "-t", "300")
    if kind == 8:
        return _case(plain, "-c", "g3:4d")
    return _case(images.damage(plain, 0, seed))


def _case(data: bytes, *options: str) -> Case:
    return Case({"in.tif": data}, (*options, "in.tif", "out.tif"), outputs=("out.tif",))
