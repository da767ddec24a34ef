# SPDX-License-Identifier: MIT
"""``compiler-gym version`` names every part, also where a compiler cannot run."""

import platform

import gymnasium

from compiler_gym.registration import compilers
from compiler_gym.version import __version__
from tests.command_line import Run, run_and_list_modules
from tests.loading import needs_packages


def test_every_part_has_its_version(cli: Run) -> None:
    versions = cli("version", "--json").json
    assert set(versions) == {"compiler_gym", "gymnasium", "python", "sandbox", *compilers()}
    assert versions["compiler_gym"] == __version__
    assert versions["python"] == platform.python_version()
    assert versions["gymnasium"] == gymnasium.__version__
    assert versions["llvm"].startswith("22")


def test_a_version_is_printed_without_an_environment() -> None:
    _, loaded = run_and_list_modules("version")
    assert "compiler_gym._llvm" in loaded  # which is the one that knows its version
    assert not {"numpy", "gymnasium", "compiler_gym.core"} & loaded


def test_the_sandbox_is_named_and_why_it_is_no_stronger(cli: Run) -> None:
    from compiler_gym.sandbox import choose_tier

    assert cli("version", "--json").json["sandbox"].startswith(choose_tier().value)
    told = cli("version", "--json", COMPILER_GYM_SANDBOX="limits").json["sandbox"]
    assert told == "limits (not namespaces: chosen with COMPILER_GYM_SANDBOX)"
    told = cli("version", "--json", COMPILER_GYM_SANDBOX="cage").json["sandbox"]
    assert told.startswith("not available: no sandbox 'cage'")


@needs_packages
def test_a_compiler_that_is_missing_is_reported(cli: Run, tmp_path: object) -> None:
    ran = cli("version", PATH=str(tmp_path))
    assert ran.status == 0
    assert "not available: " in ran.output
