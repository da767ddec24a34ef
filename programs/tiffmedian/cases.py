# SPDX-License-Identifier: MIT
"""Inputs of tiffmedian: colour images, palette sizes, with and without diffusion, refusals."""

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

COUNTS = {"test": 35, "small": 4, "ref": 2}

KINDS = (
    "rgb",
    "rgba",
    "palette8",
    "rgb16",
    "rgb",
    "palette4",
    "cmyk",
    "rgb",
    "rgb",
    "rgba",
    "black",
)
CODECS = (
    (),
    ("-c", "none"),
    ("-c", "packbits"),
    ("-c", "lzw"),
    ("-c", "lzw:2"),
    ("-c", "zip:2"),
    ("-c", "zip"),
)

_NOISE = 30


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of tiffmedian."""
    seed = rng.below(1000)
    if size != "test":
        width, repeat = {"small": (300, 3), "ref": (600, 60)}[size]
        layout = LAYOUTS[index % 3] if size == "small" else LAYOUTS[1]
        made = images.raster("rgb", width, 100, seed, repeat=repeat, **layout)
        return _case(images.build(made), *((), ("-d",), ("-C", "64"), ("-C", "16", "-d"))[index])
    if index == _NOISE:
        noise = list(rng.data(60 * 50 * 3))
        return _case(images.build(images.raster("rgb", 60, 50, seed, values=noise)), "-c", "zip")
    if index >= 31:
        return _lzw_edge(images.LZW_EDGES[index - 31], rng)
    width, height = rng.between(20, 60), rng.between(20, 50)
    if index < len(LAYOUTS):
        layout = dict(LAYOUTS[index])
        if images.KINDS[KINDS[index]][1] == 1:
            layout["planar"] = 1
        made = images.raster(KINDS[index], width, height, seed, **layout)
        options = ("-d",) if index % 2 else ()
        return _case(
            images.build(made), "-C", str(2 << index % 8), *options, *CODECS[index % len(CODECS)]
        )
    if index < 22:
        made = images.raster(rng.choice(KINDS), width, height, seed, **rng.choice(LAYOUTS[:8]))
        options = ("-C", str(rng.between(2, 256)), *(("-d",) if rng.chance(1, 2) else ()))
        return _case(images.build(made), *options, *rng.choice(CODECS))
    return _unusual(index - 22, width, height, seed)


def _lzw_edge(learnt: int, rng: Random) -> Case:
    """Few colours, each of which gets an index: which it is does not matter to the stream."""
    colours = images.lzw_edge(learnt, lambda _: rng.below(32), lambda sample: bytes([sample]))
    values = [8 * sample for sample in colours for _ in range(3)]
    made = images.raster("rgb", len(colours), 1, 0, values=values)
    return _case(images.build(made), "-c", "lzw")


def _unusual(kind: int, width: int, height: int, seed: int) -> Case:
    plain = images.build(images.raster("rgb", width, height, seed, compression=5))
    if kind == 0:
        return _case(images.build(images.raster("ycbcr", width, height, seed)), "-d")
    if kind == 1:
        return _case(images.build(images.raster("rgb", 8, 8, seed, values=[9, 99, 199] * 64)))
    if kind == 2:
        return _case(
            images.build(images.raster("bilevel", width, height, seed, compression=4)), "-C", "2"
        )
    if kind == 3:
        return _case(images.build(images.raster("rgb", 1, 1, seed)), "-d", "-C", "2")
    if kind == 4:
        return _case(plain, "-C", "257")
    if kind == 5:
        return _case(plain, "-c", "g3")
    return _case(images.damage(plain, kind - 6, seed))


def _case(data: bytes, *options: str) -> Case:
    return Case({"in.tif": data}, (*options, "in.tif", "out.tif"), outputs=("out.tif",))
