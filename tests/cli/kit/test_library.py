# SPDX-License-Identifier: MIT
"""A library is imported, or the extra that installs it is named."""

import sys
from pathlib import Path

import pytest

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import EnvironmentNotSupported


def test_a_library_that_is_there_is_its_module() -> None:
    assert library("json.decoder", "anything") is sys.modules["json.decoder"]


def test_the_extra_of_a_missing_library_is_named() -> None:
    with pytest.raises(
        EnvironmentNotSupported,
        match=r"^nowhere is missing .*pip install 'compiler-gym-next\[rl\]'$",
    ) as failure:
        library("nowhere.at.all", "rl")
    assert isinstance(failure.value.__cause__, ModuleNotFoundError)


def test_a_library_that_does_not_load_gives_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_there.py").write_text("raise ImportError('libfoo.so is gone')\n")
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    with pytest.raises(
        EnvironmentNotSupported, match=r"half_there is missing \(libfoo\.so is gone"
    ):
        library("half_there", "rl")
