# SPDX-License-Identifier: MIT
"""The example of a pass of one's own is built, runs, and does what it says."""

import re
import shutil
from pathlib import Path

import pytest

import compiler_gym
from tests.loading import load_script

FOLDER = Path(__file__).parents[2] / "examples" / "plugin_pass"
HAS_ENGINE = any((Path(f) / "_shared").is_dir() for f in compiler_gym.__path__)


@pytest.mark.skipif(
    not Path("/usr/lib/llvm-22/include/llvm/Plugins").exists(), reason="llvm-22-dev is missing"
)
@pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++-22")), reason="no C++ compiler is there"
)
@pytest.mark.skipif(not HAS_ENGINE, reason="the engine that shares LLVM was not built")
def test_multiplications_become_shifts(tmp_path: Path) -> None:
    example = load_script(FOLDER / "run.py", "plugin_pass_run")
    before, after = example.main(tmp_path)
    powers = r"= mul \S*\s?\S+ %\S+, (2|4|8|16|32|64)\b"
    assert re.search(powers, before)
    assert not re.search(powers, after)
    assert after.count(" shl ") > before.count(" shl ")
