# SPDX-License-Identifier: MIT
"""Measure the loaded bytes of projects with usual flags, with better flags, with `--policy size`
and with `tune`. README and the home page show the result as a table and a picture."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import geometric_mean

from scripts.projects.building import LADDER, build
from scripts.projects.measuring import sizes
from scripts.projects.table import Project

__all__ = ["measure_ladder", "project_table", "read_ladder"]

_RESULTS = Path(__file__).parents[2] / "docs" / "projects.json"
_TITLES = {
    "-O2": "`-O2`",
    "baseline": "flags for size",
    "policy, unpacked": "`--policy size --old-loaders`",
    "baseline, packed": "flags for size, packed",
    "policy": "`--policy size`",
    "tune": "`tune`",
}


def read_ladder() -> dict[str, dict[str, int]]:
    """Return the loaded bytes after each step, as measured last, of projects with all steps."""
    rows = json.loads(_RESULTS.read_text(encoding="utf-8"))
    return {name: row for name, row in rows.items() if LADDER.keys() <= row.keys()}


def measure_ladder(project: Project, into: Path, compilations: int) -> None:
    """Measure `project` and store its loaded bytes; the steps of this library are built anew."""
    row: dict[str, int] = {}
    for step, way in LADDER.items():
        folder = build(project, way, into, again=step.startswith("policy"))
        row[step] = sizes(folder / project.binary).loaded
    row["tune"] = _tune(project, into, compilations)
    rows = read_ladder() | {project.name: row}
    _RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(project.name, row, flush=True)


def project_table() -> str:
    """Return the table of all projects: bytes with usual flags, and the share saved by each step.

    The last column is the geometric mean.
    """
    rows = read_ladder()
    ratios = {
        step: [sizes[step] / sizes["-O2"] for sizes in rows.values()] for step in [*LADDER, "tune"]
    }
    usual = [f"{sizes['-O2']:,}" for sizes in rows.values()]
    lines = [["loaded bytes", *rows, "mean"], ["---", *["---:"] * (len(rows) + 1)]]
    lines.append([_TITLES["-O2"], *usual, ""])
    for step, values in list(ratios.items())[1:]:
        shares = [*values, geometric_mean(values)]
        lines.append([_TITLES[step], *(f"{share - 1:.0%}" for share in shares)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _tune(project: Project, into: Path, compilations: int) -> int:
    folder = into / "builds" / project.name / "tune"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(into / project.name / "source", folder / "source", symlinks=True)
    variables = LADDER["-O2"].variables
    compiler = variables.pop("CC")
    lines = "".join(f'export {name}="{value}"\n' for name, value in variables.items())
    lines += f': "${{CC:={compiler}}}"; export CC\n'  # tune sets CC to its own
    command = [
        str(Path(sys.executable).with_name("compiler-gym")), "tune", "--json",
        "--budget-compilations", str(compilations), "--binary", Path(project.binary).name,
        "--output", str(folder / "tuned"), "--", "sh", "-e", "-c", lines + project.build,
    ]  # fmt: skip
    done = subprocess.run(
        command, cwd=folder / "source", capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{project.name}: tune failed: {done.stderr[-2000:]}")
    return sizes(folder / "tuned" / "bin" / project.binary).loaded
