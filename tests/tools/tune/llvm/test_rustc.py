# SPDX-License-Identifier: MIT
"""An installed rustc is asked for its LLVM, and is ours if that is."""

from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.llvm.rustc import find_rustc, our_llvm


@pytest.mark.parametrize("llvm", [our_llvm(), "18.1.7"])
def test_the_version_of_llvm_decides(tmp_path: Path, llvm: str) -> None:
    command = tmp_path / "rustc"
    command.write_text(f"#!/bin/sh\necho 'release: 1.80.0'\necho 'LLVM version: {llvm}'\n")
    command.chmod(0o755)
    found = find_rustc(str(command))
    assert (found.release, found.llvm, found.is_ours) == ("1.80.0", llvm, llvm == our_llvm())


def test_a_missing_rustc_is_an_error() -> None:
    with pytest.raises(ProjectError, match="no-such-rustc"):
        find_rustc("no-such-rustc")
