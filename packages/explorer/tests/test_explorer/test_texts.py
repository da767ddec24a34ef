# SPDX-License-Identifier: MIT
from typing import Any

import pytest

from compiler_gym.core import Listing, PaneText, TextPane, parts_by_function
from compiler_gym.errors import ExplorerError
from compiler_gym_explorer import texts
from compiler_gym_explorer.texts import difference, list_functions, make_text

PANE = TextPane("Text", Listing(begin=r"def (\w+)", end="end"))
BEFORE = "top\ndef f\n1\n2\nend\ndef g\n3\nend\nbottom"
AFTER = "top\ndef f\n1\n4\n5\nend\ndef h\n6\nend\nbottom"


def listed(text: str, lines: dict[int, int] | None = None) -> Any:
    whole = PaneText(text, lines or {})
    return texts._Listing(whole, parts_by_function(text, PANE.listing))  # pyright: ignore[reportPrivateUsage]


def test_functions_are_listed_in_order_with_what_stands_outside() -> None:
    found = list_functions(listed(BEFORE), 7)
    assert [(one.name, one.lines) for one in found.functions] == [("f", 4), ("g", 3)]
    assert (found.outside.name, found.outside.lines) == ("", 2)
    again = list_functions(listed(BEFORE.replace("3", "9")), 8)
    assert again.functions[0].digest == found.functions[0].digest
    assert again.functions[1].digest != found.functions[1].digest


def test_lines_of_a_function_are_counted_from_its_first() -> None:
    text = make_text(listed(BEFORE, {1: 90, 3: 10, 5: 11, 7: 12}), PANE, 0, "f")
    assert text.text == "def f\n1\n2\nend"
    assert text.line_map is not None
    assert dict(zip(text.line_map.lines, text.line_map.sources, strict=True)) == {2: 10, 4: 11}
    assert make_text(listed(BEFORE), PANE, 0, "g").line_map is None
    with pytest.raises(ExplorerError, match="no function 'q'"):
        make_text(listed(BEFORE), PANE, 0, "q")


@pytest.mark.parametrize("most", [0, 4000])
def test_a_difference_counts_lines_function_by_function(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(texts, "_MOST_COMPARED", most)
    found = difference(0, listed(BEFORE), 1, listed(AFTER)).functions
    rows = {one.name: (one.status, one.added, one.removed) for one in found}
    assert rows == {
        "f": ("changed", 2, 1),
        "g": ("removed", 0, 3),
        "h": ("added", 3, 0),
        "": ("same", 0, 0),
    }
    assert found[-1].status == "same"


def test_the_number_of_a_value_is_not_a_difference() -> None:
    before = "def f\n%1 = add %0, 1\n7:\nret %1, !tbaa !3\nend"
    after = before.replace("%1", "%12").replace("7:", "19:").replace("!3", "!45")
    (row, *_) = difference(0, listed(before), 1, listed(after)).functions
    assert (row.added, row.removed) == (0, 0)
    (row, *_) = difference(0, listed(before), 1, listed(after.replace("add", "sub"))).functions
    assert (row.added, row.removed) == (1, 1)
