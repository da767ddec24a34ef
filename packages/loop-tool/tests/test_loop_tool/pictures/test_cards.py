# SPDX-License-Identifier: MIT
"""A picture brings its ground, its size and its title."""

from xml.etree import ElementTree

from compiler_gym_loop_tool.pictures.cards import card


def test_the_ground_covers_the_picture_and_the_title_is_escaped() -> None:
    root = ElementTree.fromstring(card(40, 20, "a < b", ["<g/>"]))
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == ("40", "20", "0 0 40 20")
    title, ground, part = root
    assert title.text == "a < b"
    assert ground.get("d") == "M.5 .5H39.5V19.5H.5z"
    assert part.tag.endswith("g")
