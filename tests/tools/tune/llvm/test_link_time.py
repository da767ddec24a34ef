# SPDX-License-Identifier: MIT
"""A plan is built with the files that lie beside it."""

from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.llvm.link_time import build_plan
from tests.tools.tune.llvm.hot_and_cold import PLAN, linker_of, make_project


def test_a_plan_without_its_profile_reports_it(tmp_path: Path) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    plan = replace(PLAN, profile="/nowhere/program.profdata")
    with pytest.raises(ProjectError, match=r"program\.profdata is missing"):
        build_plan(linker, plan)
    without = plan.only([name for name in plan.decisions() if name != "profile"])
    assert not without.profile
    assert build_plan(linker, without).is_file()
