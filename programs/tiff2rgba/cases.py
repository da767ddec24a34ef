# SPDX-License-Identifier: MIT
"""Inputs of tiff2rgba: every kind of image in every layout, several pages, and damage."""

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

COUNTS = {"test": 47, "small": 4, "ref": 2}

CODECS = ((), ("-c", "none"), ("-c", "lzw"), ("-c", "lzw:2"), ("-c", "zip:2"), ("-c", "zip"))
FAX = (
    {"compression": 2, "rows_per_strip": 9},
    {"compression": 3},
    {"compression": 3, "fax_options": 1, "big_endian": True, "fill_order": 2},
    {"compression": 3, "fax_options": 5, "rows_per_strip": 13},
    {"compression": 4, "fill_order": 2},
    {"compression": 4, "tile": (32, 16)},
)

_NOISE = 42


def case(size: str, index: int, rng: Random) -> Case:
    """Return one input of tiff2rgba."""
    seed = rng.below(1000)
    if size != "test":
        width, repeat = {"small": (300, 7), "ref": (500, 40)}[size]
        kind = ("rgb", "rgba", "cmyk", "palette8")[index]
        layout = LAYOUTS[index % 4] if size == "small" else LAYOUTS[1]
        if kind in ("palette8",):
            layout = {"compression": 5}
        made = images.raster(kind, width, 100, seed, repeat=repeat, **layout)
        return _case(images.build(made), "-c", ("zip:2", "lzw", "zip", "packbits")[index])
    if index == _NOISE:
        noise = list(rng.data(60 * 50 * 3))
        return _case(images.build(images.raster("rgb", 60, 50, seed, values=noise)), "-c", "zip")
    if index >= 43:
        return _lzw_edge(images.LZW_EDGES[index - 43], rng)
    width, height = rng.between(20, 60), rng.between(20, 50)
    codec = CODECS[index % len(CODECS)]
    kinds = list(images.KINDS)
    if index < len(kinds):
        layout = dict(LAYOUTS[index % len(LAYOUTS)])
        photometric, samples, bits = images.KINDS[kinds[index]]
        if photometric == 6:
            layout = {"compression": 32773, "rows_per_strip": 8}
        if bits < 8:
            layout["predictor"] = 1
        if samples == 1:
            layout["planar"] = 1
        made = images.raster(kinds[index], width, height, seed, **layout)
        return _case(images.build(made), *codec)
    if index < 21:
        made = images.raster("bilevel", rng.between(30, 900), height, seed, **FAX[index - 15])
        return _case(images.build(made), *codec)
    if index < 28:
        made = images.raster("palette4", width, height, seed, orientation=index - 19)
        return _case(images.build(made), "-n", *codec)
    return _unusual(index - 28, width, height, seed)


def _lzw_edge(learnt: int, rng: Random) -> Case:
    """Opaque greys, whose four bytes in the output are known."""
    greys = images.lzw_edge(learnt, rng.below, lambda sample: bytes([sample] * 3 + [255]))
    values = [sample for sample in greys for _ in range(3)]
    return _case(images.build(images.raster("rgb", len(greys), 1, 0, values=values)), "-c", "lzw")


def _unusual(kind: int, width: int, height: int, seed: int) -> Case:
    plain = images.build(images.raster("rgba", width, height, seed, compression=8))
    if kind == 0:
        pages = [images.raster(name, width, height, seed) for name in ("rgb", "bilevel", "grey16")]
        return _case(images.join_pages(pages), "-r", "5")
    if kind == 1:
        pages = [images.raster("rgb16", 9, 9, seed, big_endian=True) for _ in range(5)]
        return _case(images.join_pages(pages), "-n")
    if kind < 5:
        reference = [0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1]
        narrow = [16, 1, 235, 1, 128, 1, 240, 1, 128, 1, 240, 1]
        rec709 = [2125, 10000, 7154, 10000, 721, 10000]
        made = images.raster(
            "ycbcr", width, height, seed, subsampling=((4, 2), (1, 1), (2, 1))[kind - 2]
        )
        made.tags = [(532, 5, narrow if kind == 3 else reference), (529, 5, rec709)]
        return _case(images.build(made))
    if kind == 5:
        data = bytearray(images.build(images.raster("bilevel", 200, 40, seed, compression=3)))
        for at in range(60, 120, 7):
            data[at] ^= 0x55
        return _case(bytes(data))
    if kind == 6:
        return _case(plain, "-c", "g3")
    if kind == 7:
        return Case({}, ("absent.tif", "out.tif"), outputs=("out.tif",))
    if kind == 8:
        return Case({"in.tif": plain}, ("-c", "jpeg", "in.tif", "out.tif"), outputs=("out.tif",))
    if kind == 9:
        return _case(images.build(images.raster("rgb", width, height, seed, compression=7)))
    return _case(images.damage(plain, kind - 9, seed))


def _case(data: bytes, *options: str) -> Case:
    return Case({"in.tif": data}, (*options, "in.tif", "out.tif"), outputs=("out.tif",))
