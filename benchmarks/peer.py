# SPDX-License-Identifier: MIT
"""CompilerGym 0.2.5 beside ours: the same bitcode, the same hundred actions, in turns.

The old library needs an environment of its own: ``--peer DIR`` or ``COMPILER_GYM_PEER`` names a
folder with its interpreter as ``venv/bin/python``, with what it would download below
``site_data`` and with bitcode that both read (LLVM 10's) below ``programs``. Both sides run
``peer_round.py``, each in a process of its own; they take turns, and the best of every round
counts, because other programs on the machine only ever add. Sequences are comparable where
about as many actions changed the program on both sides.
"""

import json
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, NotSetUpError
from compiler_gym import make

VARIABLE = "COMPILER_GYM_PEER"
ROUNDS = 3
SECONDS = 0.5
"""How long each thing is repeated in a round, if it can be done more than three times."""
ACTIONS = 100
LARGEST_BYTES = 1 << 20
ROUND = Path(__file__).with_name("peer_round.py")
SMALL, MEDIUM = 500, 3_000
"""Instructions: what was promised depends on the size."""

Measured = dict[str, dict[str, float]]
"""By program, then by what was done: seconds, or counts."""


def measure() -> list[Figure]:
    folder = find_folder()
    programs = [p for p in list_programs(folder) if p.stat().st_size <= LARGEST_BYTES]
    old: Measured = {}
    ours: Measured = {}
    for _ in range(ROUNDS):
        keep_best(old, run_round(programs, SECONDS, folder))
        keep_best(ours, run_round(programs, SECONDS))
    return [
        figure
        for path in sorted(ours, key=lambda path: ours[path]["instructions"])
        for figure in _figures(Path(path).stem, old[path], ours[path])
    ]


def find_folder() -> Path:
    """Return the folder with CompilerGym 0.2.5; raise `NotSetUpError` if there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise NotSetUpError(
            f"CompilerGym 0.2.5 is not set up: name its folder with --peer DIR or {VARIABLE}"
        )
    folder = Path(named).absolute()
    if not (folder / "venv/bin/python").exists():
        raise NotSetUpError(f"CompilerGym 0.2.5 is not set up: no {folder}/venv/bin/python")
    return folder


def list_programs(folder: Path) -> list[Path]:
    """Return the bitcode in the folder of 0.2.5, which both read; the smallest comes first."""
    programs = (folder / "programs").glob("*.bc*")
    found = sorted(programs, key=lambda path: path.stat().st_size)
    if not found:
        raise NotSetUpError(f"no bitcode below {folder / 'programs'}")
    return found


@cache
def _draw_actions() -> list[str]:
    """Return names of the old action space, drawn with a fixed seed."""
    with make("llvm-v0", action_space="CompilerGymV0") as env:
        names = list(env.action_space.names)
    return random.Random(0).choices(names, k=ACTIONS)


def run_round(
    programs: list[Path], seconds: float, folder: Path | None = None, *, as_learner: bool = False
) -> Measured:
    """Measure all programs with the library in `folder`, or with ours, in a process of its own."""
    python = folder / "venv/bin/python" if folder else Path(sys.executable)
    variables = _old_variables(folder) if folder else {"PYTHONPATH": str(ROUND.parents[1])}
    wanted = {"actions": _draw_actions(), "seconds": seconds, "as_learner": as_learner}
    done = subprocess.run(
        [python, ROUND], input=json.dumps({"programs": list(map(str, programs)), **wanted}),
        capture_output=True, text=True, check=False, cwd=folder, env={**os.environ, **variables},
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"a round with {python} failed:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])["programs"]


def _old_variables(folder: Path) -> dict[str, str]:
    return {
        "PYTHONPATH": "",
        "COMPILER_GYM_SITE_DATA": str(folder / "site_data"),
        "COMPILER_GYM_CACHE": str(folder / "cache"),
        "COMPILER_GYM_TRANSIENT_CACHE": str(folder / "cache"),
        "COMPILER_GYM_LOGS": str(folder / "logs"),
    }


def keep_best(best: Measured, found: Measured) -> None:
    """Put the least of each time in `best` and `found` into `best`."""
    for path, values in found.items():
        known = best.setdefault(path, values)
        for name, value in values.items():
            known[name] = min(known[name], value)


def _figures(name: str, old: dict[str, float], ours: dict[str, float]) -> list[Figure]:
    size = int(ours["instructions"])
    step = 5.0 if size <= SMALL else 4.0 if size <= MEDIUM else 2.2
    bounds: dict[str, float | None] = {
        "step + IrInstructionCount": step,
        "step + Autophase + IrInstructionCountOz": step,
        "multistep": 2.0 if size <= MEDIUM else 1.4,
        "reset": 5.0,
        "fork": None,
    }
    label = f"{name}, {size:,} instructions"
    figures = [
        Figure(f"{label}: {_WORDS.get(kind, kind)}", old[kind] / ours[kind], "x", bound, "at least")
        for kind, bound in bounds.items()
    ]
    forks: dict[str, Any] = {"unit": "x", "bound": 1.5}
    return [
        *figures,
        Figure(f"{label}: fork against a bare one", ours["fork"] / ours["bare fork"], **forks),
        Figure(f"{label}: actions that changed it, 0.2.5", old["changed"], ""),
        Figure(f"{label}: actions that changed it, ours", ours["changed"], ""),
    ]


_WORDS = {
    "multistep": f"multistep of {ACTIONS}",
    "reset": "reset to a program seen before",
    "fork": "fork",
}
