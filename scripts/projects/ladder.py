# SPDX-License-Identifier: MIT
"""Loaded bytes of a project's program: with usual flags, with two more, with `--policy size` and
with `tune`. README and the home page show the result (``docs/projects.json``)."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from scripts.projects.building import Build, build
from scripts.projects.measuring import sizes
from scripts.projects.table import Project

__all__ = ["RESULTS", "measure_ladder"]

RESULTS = Path(__file__).parents[2] / "docs" / "projects.json"
_LLD = "-fuse-ld=lld"
_BIN = Path(sys.executable).parent
_STEPS = (
    Build("-O2", "clang-22", "-O2", _LLD),
    Build("-Oz", "clang-22", "-Oz", _LLD),
    Build("-Oz -flto", "clang-22", "-Oz -flto", f"{_LLD} -Wl,--gc-sections"),
    Build("baseline", "clang-22", "-Oz -flto", f"{_LLD} -Wl,--gc-sections -Wl,--icf=safe"),
    Build("policy", f"{_BIN / 'compiler-gym-cc'} --policy size", "-O2", _LLD),
)


def measure_ladder(project: Project, into: Path, compilations: int) -> dict[str, int]:
    """Return the loaded bytes of `project` after each step, built anew for `policy` and `tune`."""
    row = {
        step.name: sizes(
            build(project, step, into, again=step.name == "policy") / project.binary
        ).loaded
        for step in _STEPS
    }
    row["tune"] = _tune(project, into, compilations)
    return row


def _tune(project: Project, into: Path, compilations: int) -> int:
    folder = into / "builds" / project.name / "tune"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(into / project.name / "source", folder / "source", symlinks=True)
    lines = f'export CFLAGS="-O2" LDFLAGS="{_LLD}" AR=llvm-ar-22 RANLIB=llvm-ranlib-22\n'
    lines += ': "${CC:=clang-22}"; export CC\n'
    command = [
        str(_BIN / "compiler-gym"), "tune", "--json", "--budget-compilations", str(compilations),
        "--binary", Path(project.binary).name, "--output", str(folder / "tuned"),
        "--", "sh", "-e", "-c", lines + project.build,
    ]  # fmt: skip
    done = subprocess.run(command, cwd=folder / "source", capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(
            f"{project.name}: tune exited with {done.returncode}: {done.stderr[-2000:]}"
        )
    (binary,) = json.loads(done.stdout)["binaries"]
    return int(binary["sizes"]["tuned"]["loaded"])
