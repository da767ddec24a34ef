# SPDX-License-Identifier: MIT
"""The picture of a tree shows each loop inside of those around it."""

from itertools import pairwise
from xml.etree import ElementTree

from compiler_gym_loop_tool.actions import changes
from compiler_gym_loop_tool.pictures import tree_svg, tree_text
from compiler_gym_loop_tool.state.descriptions import describe
from compiler_gym_loop_tool.state.reading import parse_program
from compiler_gym_loop_tool.state.tree import initial_tree

SVG = "{http://www.w3.org/2000/svg}"


def text() -> str:
    tree = initial_tree(parse_program(describe("matmul", "m=10,n=8,k=4")))
    return str(changes.pack(changes.toggle_parallel(changes.split(tree, (0,), 4), (0,)), (0,), 0))


def test_every_line_is_shown() -> None:
    shown = tree_text(text(), 1).splitlines()
    assert len(shown) == len(text().splitlines())
    assert shown[0] == "┌ m: 2 + 2  [thread]  [pack A]"
    assert shown[1] == "│ ┌ m': 4  ◀"


def test_boxes_lie_in_boxes() -> None:
    root = ElementTree.fromstring(tree_svg(text(), 1))
    boxes = [
        tuple(float(box.get(key, "0")) for key in ("x", "y", "width", "height"))
        for box in root.iter(f"{SVG}rect")
    ]
    assert len(boxes) == 4
    for (x, y, width, height), (x2, y2, width2, height2) in pairwise(boxes):
        assert x < x2
        assert y < y2
        assert x2 + width2 <= x + width
        assert y2 + height2 <= y + height
    assert len(list(root.iter(f"{SVG}text"))) == 5


def test_the_cursor_has_an_arrow_and_an_edge() -> None:
    root = ElementTree.fromstring(tree_svg(text(), 1))
    marked = [box for box in root.iter(f"{SVG}rect") if box.get("stroke-width") == "2"]
    assert len(marked) == 1
    assert [one.text for one in root.iter(f"{SVG}text") if "◀" in (one.text or "")] == ["m': 4  ◀"]


def test_nests_side_by_side_do_not_touch() -> None:
    tree = initial_tree(parse_program(describe("dense", "m=4,n=5,k=6")))
    root = ElementTree.fromstring(tree_svg(str(tree)))
    outer = [box for box in root.iter(f"{SVG}rect") if box.get("x") == "10"]
    ends = [float(box.get("y", "")) + float(box.get("height", "")) for box in outer]
    assert ends[0] < float(outer[1].get("y", ""))
    assert ends[1] < float(root.get("height", ""))
