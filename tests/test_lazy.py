# SPDX-License-Identifier: MIT
"""A door fetches each name once, from where it is told, and no other."""

import sys
from types import ModuleType

import pytest

from compiler_gym.lazy import door, named


@pytest.fixture
def house(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return a module with a door to another."""
    module, room = ModuleType("house"), ModuleType("house_room")
    room.chair = object()  # type: ignore[attr-defined]  # what is behind the door
    monkeypatch.setitem(sys.modules, "house", module)
    monkeypatch.setitem(sys.modules, "house_room", room)
    module.__getattr__ = door("house", {"chair": "house_room"})  # type: ignore[method-assign]
    return module


def test_a_name_is_fetched_once(house: ModuleType) -> None:
    chair = house.chair
    del sys.modules["house_room"].chair  # type: ignore[attr-defined]  # it is held already
    assert house.chair is chair
    assert vars(house)["chair"] is chair


def test_another_name_is_refused(house: ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'house' has no attribute 'table'"):
        _ = house.table
    assert not hasattr(house, "__path__")


def test_a_part_is_found_by_its_module_and_its_name() -> None:
    assert named("compiler_gym.lazy:named") is named
    with pytest.raises(AttributeError, match="nothing"):
        named("compiler_gym.lazy:nothing")
