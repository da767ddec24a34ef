# SPDX-License-Identifier: MIT
"""The screenshots in the explorer's guide show the explorer as it is."""

from pathlib import Path

import numpy as np
import pytest

from docs.browser import CHROMIUM
from docs.explorer_pictures import IMAGES, take_pictures

image = pytest.importorskip("PIL.Image", reason="pillow is missing")
pytest.importorskip("playwright.sync_api", reason="playwright is missing")
pytestmark = [
    pytest.mark.docs,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is missing"),
]

_LARGEST_DIFFERENCE = 0.004
"""Share of pixels: fonts are drawn a little differently elsewhere; a changed label is more."""
_VISIBLE = 40
"""Levels of grey, of 255, by which a pixel must differ to be counted."""


def test_the_stored_pictures_show_the_explorer_as_it_is(tmp_path: Path) -> None:
    stored = sorted(path.name for path in IMAGES.glob("web-*.png"))
    stale = stored
    for _ in range(3):  # on a busy machine, a picture may show a page that is not complete yet
        take_pictures(tmp_path)
        assert sorted(path.name for path in tmp_path.iterdir()) == stored
        stale = [name for name in stale if _differs(tmp_path / name, IMAGES / name)]
        if not stale:
            break
    assert not stale, "the explorer looks different: run `python -m docs.explorer_pictures`"


def test_a_picture_of_something_else_is_noticed() -> None:
    assert _difference(IMAGES / "web-tree-dark.png", IMAGES / "web-heat-dark.png") > 0.03
    assert _difference(IMAGES / "web-diff.png", IMAGES / "web-narrow.png") == 1


def _differs(one: Path, other: Path) -> bool:
    return _difference(one, other) > _LARGEST_DIFFERENCE


def _difference(one: Path, other: Path) -> float:
    """Return the share of pixels that look different, 1 if the sizes differ."""
    first, second = (np.asarray(image.open(path).convert("L"), int) for path in (one, other))
    if first.shape != second.shape:
        return 1
    return float((abs(first - second) > _VISIBLE).mean())
