# SPDX-License-Identifier: MIT
"""BOLT lays out a linked file as a run of it says, the same way every time, or says why not."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.builds import function_sizes
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan
from compiler_gym.tools.tune.llvm.bolt import layouts_in, with_layout
from compiler_gym.tools.tune.llvm.link_time import build_plan
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from tests.tools.tune.llvm.hot_and_cold import PLAN, linker_of, make_project, run_of

needs_bolt = pytest.mark.skipif(not shutil.which("llvm-bolt-22"), reason="needs bolt-22")
LINKED = "$CC -O2 -c main.c work.c && $CC {} main.o work.o -o program"


@needs_bolt
@pytest.mark.parametrize("flags", ["", "-no-pie"])
def test_a_layout_is_made_again_byte_for_byte_and_by_the_script(flags: str, tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    linker = linker_of(project, "sh", "-c", LINKED.format(flags))
    notes: list[str] = []
    plan = with_layout(linker, PLAN, run_of(linker.binary), notes)
    assert plan is not None, notes
    assert plan.decisions()[-1] == "after bolt"
    assert plan.after_profile in layouts_in(linker.folder)
    made, plain = build_plan(linker, plan), build_plan(linker, PLAN)
    first = made.read_bytes()
    assert first != plain.read_bytes()
    answers = {subprocess.check_output([path, "1000"]) for path in (made, plain)}
    assert len(answers) == 1
    assert not function_sizes(made)  # GNU strip breaks what BOLT writes, so it strips itself
    assert build_plan(linker, plan).read_bytes() == first
    assert _by_script(linker.binary, plan, tmp_path).read_bytes() == first
    assert plan.without("after bolt") == PLAN


@needs_bolt
def test_what_bolt_refuses_is_a_note(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project")
    linker = linker_of(project, "sh", "-c", LINKED.format("-static"))
    notes: list[str] = []
    assert with_layout(linker, PLAN, run_of(linker.binary), notes) is None
    assert "no layout by BOLT: BOLT-ERROR" in notes[0]


@needs_bolt
def test_a_run_that_fails_gives_no_layout(tmp_path: Path) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    notes: list[str] = []
    assert with_layout(linker, PLAN, run_of(linker.binary, "exit 5"), notes) is None
    assert "exited with status 5" in notes[0]


def test_without_bolt_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    linker = linker_of(make_project(tmp_path / "project"))
    found = shutil.which

    def hidden(name: str, **more: Any) -> str | None:
        return None if "bolt" in name else found(name, **more)

    monkeypatch.setattr(shutil, "which", hidden)
    notes: list[str] = []
    assert with_layout(linker, PLAN, run_of(linker.binary), notes) is None
    assert "apt install bolt-22" in notes[0]
    kept = tmp_path / "a.fdata"
    kept.touch()
    plan = BinaryPlan("program", PLAN.method, after=("bolt",), after_profile=str(kept))
    with pytest.raises(ProjectError, match="apt install bolt-22"):
        build_plan(linker, plan)


def _by_script(binary: Any, plan: BinaryPlan, folder: Path) -> Path:
    here, out = folder / "here", folder / "out"
    (here / "profiles").mkdir(parents=True)
    out.mkdir()
    shutil.copy(plan.after_profile, here / "profiles/a.fdata")
    named = BinaryPlan(
        plan.name, plan.method, linker=plan.linker, after=plan.after,
        after_profile="profiles/a.fdata",
    )  # fmt: skip
    script = folder / "again.sh"
    script.write_text(
        f"set -eu\nROOT={binary.root}\nOUT={out}\nHERE={here}\n" + LlvmTuner().script(binary, named)
    )
    subprocess.run(["sh", script], check=True)
    return out / "program"
