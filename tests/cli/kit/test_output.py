# SPDX-License-Identifier: MIT
"""Results go to standard output, and whatever they hold can be said in JSON."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.cli.kit.output import errors, output, print_json, table, to_plain

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN)
def test_values_with_a_json_form_keep_it(value: object) -> None:
    assert to_plain(value) == value
    assert json.loads(json.dumps(to_plain(value))) == value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.arange(3), [0, 1, 2]),
        (np.float32(0.5), 0.5),
        ((1, (2,)), [1, [2]]),
        (b"four", "4 bytes"),
        ({1: np.int64(2)}, {"1": 2}),
        (Path("/tmp/a"), "/tmp/a"),
    ],
)
def test_other_values_are_written_as_people_read_them(value: object, plain: object) -> None:
    assert to_plain(value) == plain


def test_json_comes_alone_on_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"bound": math.inf, "name": "é"})
    shown = capsys.readouterr()
    assert json.loads(shown.out) == {"bound": math.inf, "name": "é"}
    assert shown.err == ""


def test_consoles_write_where_they_say(capsys: pytest.CaptureFixture[str]) -> None:
    errors.cache_clear()
    output().print("found 3")
    errors().print("searching")
    shown = capsys.readouterr()
    assert (shown.out, shown.err) == ("found 3\n", "searching\n")
    errors.cache_clear()


def test_numbers_stand_to_the_right() -> None:
    made = table("Name", "Count", right=("Count",), title="Programs")
    assert [(str(c.header), c.justify) for c in made.columns] == [
        ("Name", "left"),
        ("Count", "right"),
    ]
