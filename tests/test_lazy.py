# SPDX-License-Identifier: MIT
"""A door fetches each name once, from where it is told, and no other."""

import importlib
import math
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest

from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import door, load_named, part, parts
from tests.stand_ins import always


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


def test_the_names_are_those_that_the_source_imports_for_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "shop.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from compiler_gym.lazy import door\n"
        "if TYPE_CHECKING:\n"
        "    from decimal import Decimal  # not public\n"
        "\n"
        "    # Of another kind.\n"
        "    from math import (\n        ceil,\n        floor,\n    )\n"
        "    from os import path as path\n"
        "from os import sep\n"
        "__all__ = ['ceil', 'floor', 'later', 'sep']\n"
        "__getattr__ = door(__name__, {'later': 'shop_room'})\n"
    )
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    shop = importlib.import_module("shop")
    assert (shop.floor, shop.ceil) == (math.floor, math.ceil)
    for name in ("Decimal", "path", "door_of"):
        assert not hasattr(shop, name)
    with pytest.raises(ModuleNotFoundError, match="shop_room"):
        _ = shop.later


def test_another_name_is_refused(house: ModuleType) -> None:
    with pytest.raises(AttributeError, match="module 'house' has no attribute 'table'"):
        _ = house.table
    assert not hasattr(house, "__path__")


def test_modules_of_a_package_need_no_separate_import() -> None:
    program = """
import sys, compiler_gym
assert "compiler_gym.envs" not in sys.modules
print(compiler_gym.envs.llvm.make_benchmark.__name__, compiler_gym.spaces.Scalar.__name__)
print(compiler_gym.errors.ValidationError.__name__, hasattr(compiler_gym, "nothing_of_that_name"))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["make_benchmark", "Scalar", "ValidationError", "False"]


def test_a_part_is_found_by_its_module_and_its_name() -> None:
    assert load_named("compiler_gym.lazy:load_named") is load_named
    with pytest.raises(AttributeError, match="nothing"):
        load_named("compiler_gym.lazy:nothing")


def test_folders_are_available_without_a_separate_import() -> None:
    program = (
        "import sys, compiler_gym\n"
        "assert 'compiler_gym.errors' not in vars(compiler_gym)\n"
        "print(compiler_gym.errors.ServiceError.__name__, compiler_gym.envs.CompilerEnv.__name__,"
        " compiler_gym.spaces.Reward.__name__, compiler_gym.datasets.Benchmark.__name__,"
        " compiler_gym.views.RewardView.__name__, compiler_gym.wrappers.TimeLimit.__name__,"
        " compiler_gym.service.Limits.__name__, compiler_gym.leaderboard.__name__,"
        " compiler_gym.envs.llvm.datasets.CBenchDataset.__name__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split()[:2] == ["ServiceError", "CompilerEnv"]


def test_parts_of_this_package_come_first_and_are_not_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    group = "compiler_gym.tried"
    ours = EntryPoint("llvm", "compiler_gym.lazy:load_named", group)
    others = [EntryPoint("acme", "math:floor", group), EntryPoint("llvm", "math:ceil", group)]
    monkeypatch.setattr("compiler_gym.lazy._all_entry_points", always([*others, ours]))
    found = parts("tried")
    assert list(found) == ["llvm", "acme"]
    assert found["llvm"] is ours
    assert part("tried", "llvm") is load_named
    with pytest.raises(UnknownNameError, match="has 2 compilers, so choose one: llvm or acme"):
        part("tried")
    with pytest.raises(UnknownNameError, match=r"no compiler 'gcc' in .*; there are llvm, acme"):
        part("tried", "gcc")


def test_entry_points_are_those_that_importlib_finds_of_the_first_distribution(
    tmp_path: Path,
) -> None:
    for folder, value in (("first", "ceil"), ("second", "floor")):
        info = tmp_path / folder / "Acme_Tools-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-tools\n")
        (info / "entry_points.txt").write_text(
            f"[console_scripts]\nx = y:z\n\n[compiler_gym.commands]\n{value} = math:{value}\n"
        )
    program = (
        "from compiler_gym.lazy import parts; from importlib.metadata import entry_points\n"
        "kinds = ('compilers', 'commands', 'declarations')\n"
        "show = lambda entries: {(e.name, e.value, e.group) for e in entries}\n"
        "theirs = [e for k in kinds for e in entry_points(group=f'compiler_gym.{k}')]\n"
        "print(show(e for k in kinds for e in parts(k).values()) == show(theirs))\n"
        "print('ceil' in parts('commands'), 'floor' in parts('commands'))"
    )
    path = os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second")])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.stdout.split() == ["True", "True", "False"]


def test_the_only_part_needs_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    only = EntryPoint("acme", "math:floor", "compiler_gym.only")
    monkeypatch.setattr("compiler_gym.lazy._all_entry_points", always([only]))
    assert part("only")(2.5) == 2
