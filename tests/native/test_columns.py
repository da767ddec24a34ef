# SPDX-License-Identifier: MIT
"""Lists from columns: what Python's own indexing gives, errors for what is not there."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym._columns import taken, texts


def column(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


@given(st.lists(st.text(max_size=3), min_size=1, max_size=8), st.lists(st.integers(0, 7)))
def test_values_are_taken_as_by_indexing(values: list[str], places: list[int]) -> None:
    places = [place % len(values) for place in places]
    found = taken(values, column(places))
    assert found == [values[place] for place in places]
    assert all(mine is values[place] for mine, place in zip(found, places, strict=True))


@pytest.mark.parametrize("place", [-1, 2, 2**31 - 1, -(2**31)])
def test_a_place_that_is_not_there_is_an_error(place: int) -> None:
    with pytest.raises(IndexError, match="outside the list"):
        taken(["a", "b"], column([0, place]))


def test_nothing_is_taken_from_nothing() -> None:
    assert taken([], column([])) == []


def test_references_are_counted() -> None:
    value = object()
    before = sys.getrefcount(value)
    found = taken([value], column([0] * 100))
    assert sys.getrefcount(value) == before + 100
    del found
    with pytest.raises(IndexError):
        taken([value], column([0, 0, 1]))
    gc.collect()
    assert sys.getrefcount(value) == before


def test_columns_of_other_kinds_and_steps_are_understood_or_refused() -> None:
    assert taken(["a", "b"], column([0, 1, 1, 0])[::3]) == ["a", "a"]
    read_only = np.frombuffer(column([1]).tobytes(), dtype=np.int32)
    assert taken(["a", "b"], read_only) == ["b"]
    with pytest.raises(TypeError):
        taken(("a", "b"), column([0]))  # type: ignore[arg-type]  # the mistake under test
    with pytest.raises(TypeError):
        taken(["a"], column([0]).reshape(1, 1))


@given(st.lists(st.binary(max_size=4), max_size=8))
def test_texts_are_decoded_as_python_does(parts: list[bytes]) -> None:
    ends = np.cumsum([len(part) for part in parts], dtype=np.int32)
    assert texts(b"".join(parts), ends) == [
        part.decode(errors="backslashreplace") for part in parts
    ]


@pytest.mark.parametrize("ends", [[4], [2, 1], [-1]])
def test_an_end_outside_the_data_is_an_error(ends: list[int]) -> None:
    with pytest.raises(IndexError, match="ends must be"):
        texts(b"abc", column(ends))


def page_faults_of_large_lists(*, asked: bool) -> int:
    program = (
        "import resource, sys; import numpy as np\n"
        "from compiler_gym._columns import keep_large_blocks, taken\n"
        "if sys.argv[1] == 'asked': keep_large_blocks()\n"
        "places = np.zeros(200_000, dtype=np.int32)\n"
        "def take():\n"
        "    for _ in range(4): [taken(['a'], places) for _ in range(3)]\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "before = take(); print(take() - before)\n"
    )
    command = [sys.executable, "-c", program, "asked" if asked else "unasked"]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)


def test_the_c_library_keeps_large_blocks_only_where_that_is_requested() -> None:
    assert page_faults_of_large_lists(asked=True) < 100
    assert page_faults_of_large_lists(asked=False) > 1000
