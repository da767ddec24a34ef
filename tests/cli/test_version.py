# SPDX-License-Identifier: MIT
"""``compiler-gym version`` names every part, also where a compiler cannot run."""

import platform

import gymnasium

from compiler_gym.registration import compilers
from compiler_gym.version import __version__

from .conftest import Run


def test_every_part_has_its_version(cli: Run) -> None:
    versions = cli("version", "--json").json
    assert set(versions) == {"compiler_gym", "gymnasium", "python", *compilers()}
    assert versions["compiler_gym"] == __version__
    assert versions["python"] == platform.python_version()
    assert versions["gymnasium"] == gymnasium.__version__
    assert versions["llvm"].startswith("22")


def test_a_compiler_that_is_missing_is_said(cli: Run, tmp_path: object) -> None:
    ran = cli("version", PATH=str(tmp_path))
    assert ran.status == 0
    assert "not available: " in ran.output
