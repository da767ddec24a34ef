# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.spaces import Opaque


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "x", [], [1, ["a"]], {"a": {"b": [None]}}])
def test_json_holds_what_json_can_hold(value: object) -> None:
    assert Opaque("x", "json").contains(value)


@pytest.mark.parametrize("value", [b"x", (1, 2), {1: 2}, {1, 2}, object(), [1, b"x"]])
def test_json_holds_nothing_else(value: object) -> None:
    assert not Opaque("x", "json").contains(value)


def test_deep_values_do_not_overflow_the_stack() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert Opaque("x", "json").contains(deep)


def test_other_formats_are_text_or_bytes() -> None:
    space = Opaque("x", "flatbuffer")
    assert space.contains(b"x")
    assert space.contains("x")
    assert not space.contains({"a": 1})
    assert space != Opaque("x", "json")
    assert repr(space) == "Opaque(flatbuffer)"
