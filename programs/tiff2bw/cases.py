# SPDX-License-Identifier: MIT
"""Inputs of tiff2bw: colour images in every layout, weights, codecs, and files that it refuses."""

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

COUNTS = {"test": 34, "small": 4, "ref": 2}

KINDS = ("rgb", "rgb", "palette8", "rgb16", "rgb", "palette4", "cmyk", "rgba", "rgb", "rgb", "rgb")
CODECS = (
    (),
    ("-c", "none"),
    ("-c", "packbits"),
    ("-c", "lzw"),
    ("-c", "lzw:2"),
    ("-c", "zip:2"),
    ("-c", "zip"),
)


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of tiff2bw."""
    seed = rng.below(1000)
    if size != "test":
        width, repeat = {"small": (400, 10), "ref": (600, 84)}[size]
        layout = LAYOUTS[index % 3] if size == "small" else LAYOUTS[1]
        made = images.raster("rgb", width, 100, seed, repeat=repeat, **layout)
        codec = ("-c", ("zip:2", "lzw", "packbits", "zip")[index % 4])
        return _case(images.build(made), *codec)
    if index >= 30:
        return _lzw_edge(images.LZW_EDGES[index - 30], rng)
    width, height = rng.between(20, 60), rng.between(20, 50)
    if index < len(LAYOUTS):
        made = images.raster(KINDS[index], width, height, seed, **LAYOUTS[index])
        return _case(images.build(made), *CODECS[index % len(CODECS)])
    if index < 18:
        weights = [str(rng.below(101)) for _ in range(3)]
        made = images.raster(rng.choice(KINDS), width, height, seed, **rng.choice(LAYOUTS[:8]))
        options = (
            "-R",
            weights[0],
            "-G",
            weights[1],
            "-B",
            weights[2],
            "-r",
            str(rng.between(1, 30)),
        )
        return _case(images.build(made), *options, *rng.choice(CODECS))
    return _unusual(index - 18, width, height, seed)


def _lzw_edge(learnt: int, rng: Random) -> Case:
    """Grey as it is, so that the bytes of the output are known."""
    greys = images.lzw_edge(learnt, rng.below, lambda sample: bytes([sample]))
    values = [sample for sample in greys for _ in range(3)]
    return _case(images.build(images.raster("rgb", len(greys), 1, 0, values=values)), "-c", "lzw")


def _unusual(kind: int, width: int, height: int, seed: int) -> Case:
    plain = images.build(images.raster("rgb", width, height, seed, compression=5))
    if kind < 3:
        steps = ((2, 2), (2, 1), (1, 1))[kind]
        made = images.raster("ycbcr", width, height, seed, subsampling=steps, rows_per_strip=8)
        return _case(images.build(made), "-c", "none")
    if kind == 3:
        made = images.raster("palette1", 1, 1, seed, compression=4)
        return _case(images.build(made), "-f", "lsb2msb")
    if kind == 4:
        return _case(
            images.build(images.raster("rgb", width, 1, seed)),
            "-R",
            "100",
            "-G",
            "100",
            "-B",
            "100",
        )
    if kind == 5:
        return _case(images.build(images.raster("black", width, height, seed)))
    if kind == 6:
        return _case(plain, "-c", "g4")
    if kind == 7:
        return _case(plain, "-R", "101")
    if kind == 8:
        made = images.raster(
            "palette1", 1800, 9, seed, compression=3, fax_options=5, big_endian=True
        )
        return _case(images.build(made), "-c", "packbits")
    return _case(images.damage(plain, (0, 2, 5)[kind - 9], seed))


def _case(data: bytes, *options: str) -> Case:
    return Case({"in.tif": data}, (*options, "in.tif", "out.tif"), outputs=("out.tif",))
