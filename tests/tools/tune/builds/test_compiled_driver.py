# SPDX-License-Identifier: MIT
"""The compiled driver is found beside the interpreter, and missed with advice."""

import sys
from pathlib import Path

import pytest

from compiler_gym.tools.tune.builds import find_compiled_driver


def test_the_driver_is_found_next_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert Path(find_compiled_driver("cc")).name == "compiler-gym-cc"


def test_without_a_driver_the_message_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "argv", ["compiler-gym"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SystemExit, match="compiler-gym-cxx not found next to"):
        find_compiled_driver("cxx")
