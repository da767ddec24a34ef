# SPDX-License-Identifier: MIT
"""There is one list of what every program reads, and every way of making a box is told it."""

import os

import pytest

from compiler_gym.sandbox import paths
from compiler_gym.sandbox.box import RunLimits, bounds
from compiler_gym.sandbox.paths import DEVICES, SYSTEM, is_system
from compiler_gym.sandbox.ways import wrap_command
from tests.stand_ins import always


@pytest.mark.parametrize("path", ["/usr", "/usr/bin/cc", "/gnu/store/x-gcc", "/nix/store/y/lib"])
def test_system_paths_are_not_shown_twice(path: str) -> None:
    assert is_system(path)


@pytest.mark.parametrize("path", ["/", "/usrlocal", "/home/usr/bin", "/etc/passwd", "/gnu"])
def test_user_paths_are_not_system_paths(path: str) -> None:
    assert not is_system(path)


def test_every_way_gets_the_same_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = bounds(RunLimits())
    assert [word.removeprefix("--system=") for word in ours if "--system" in word] == [*SYSTEM]
    assert [word.removeprefix("--device=") for word in ours if "--device" in word] == [*DEVICES]
    monkeypatch.setattr("shutil.which", always("/usr/bin/bwrap"))
    bubblewrap = wrap_command(["/helper"], shown=[], work=None, scratch_bytes=1)
    here = [path for path in (*SYSTEM, *DEVICES) if os.path.exists(path)]
    assert [path for path in here if path not in bubblewrap] == []
    assert paths.__all__ == ["DEVICES", "SYSTEM", "is_system"]
